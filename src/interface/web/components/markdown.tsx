/** Renders text of a model or a tool as Markdown. The only place that sets HTML, and only HTML from `safeHtml`. */

import { useMemo } from "preact/hooks";

import { safeHtml } from "../markdown.ts";

export function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => safeHtml(text), [text]);
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
