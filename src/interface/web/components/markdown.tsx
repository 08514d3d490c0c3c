/**
 * Text of a model or a tool as markdown. The only place of the page that sets HTML, and only what `safeHtml` let through.
 */

import { useMemo } from "preact/hooks";

import { safeHtml } from "../markdown.ts";

export function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => safeHtml(text), [text]);
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
