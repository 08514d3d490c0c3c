/** Draws text of a model or a tool as Markdown. What is finished is not drawn again while the rest arrives. */

import type { Token, Tokens } from "marked";
import { useRef } from "preact/hooks";

import { pure } from "../pure.tsx";
import { CodeBlock } from "./code-block.tsx";
import { GrowingMarkdown } from "./growing-markdown.ts";
import { MarkdownPart } from "./markdown-view.tsx";

export function Prose({ text, growing = false }: { readonly text: string; readonly growing?: boolean }) {
  const markdown = useRef<GrowingMarkdown>();
  markdown.current ??= new GrowingMarkdown();
  const parts = markdown.current.parts(text);
  return (
    <div class={growing ? "prose growing" : "prose"}>
      {parts.map((part, at) => (
        <Part key={at} part={part} growing={growing && at === parts.length - 1} />
      ))}
    </div>
  );
}

const Part = pure(({ part, growing }: { readonly part: Token; readonly growing: boolean }) => {
  if (part.type === "code") {
    const { text, lang } = part as Tokens.Code;
    return <CodeBlock code={text} about={lang ?? ""} growing={growing} />;
  }
  return (
    <div class="part">
      <MarkdownPart part={part} />
    </div>
  );
});
