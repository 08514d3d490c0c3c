/** Code with its language or file name, a button that copies it, and colours once the highlighter is loaded. */

import { useEffect, useState } from "preact/hooks";

import { type CodePiece, loadHighlighter } from "../../highlight/index.ts";
import { CopyButton } from "./copy-button.tsx";

interface Props {
  readonly code: string;
  /** What stands behind the fence: a language, a file name, or both. */
  readonly about: string;
  /** It is still being written. It gets its colours when it is complete, so that each draw stays short. */
  readonly growing: boolean;
}

type Rows = readonly (readonly CodePiece[])[];

export function CodeBlock({ code, about, growing }: Props) {
  const [word = ""] = about.trim().split(/\s+/);
  const language =
    /^\{?\.?([\w+#-]+)/.exec(word.includes(".") ? (word.split(".").at(-1) ?? "") : word)?.[1] ?? "";
  const [rows, setRows] = useState<{ readonly code: string; readonly rows: Rows }>();
  useEffect(() => {
    if (growing || language === "") return undefined;
    let stale = false;
    const colour = async (): Promise<void> => {
      const highlight = await loadHighlighter();
      if (!stale) setRows({ code, rows: highlight(code, language) });
    };
    void colour();
    return () => {
      stale = true;
    };
  }, [code, language, growing]);
  return (
    <div class="code">
      <div class="code-bar">
        <span>{nameOf(about)}</span>
        <CopyButton text={() => code} name="Copy the code" />
      </div>
      <pre tabIndex={0} aria-label={word === "" ? "Code" : `Code, ${word.slice(0, 40)}`} role="group">
        <code>{rows?.code === code ? <Coloured rows={rows.rows} /> : code}</code>
      </pre>
    </div>
  );
}

/** The file name if there is one, otherwise the language. */
function nameOf(about: string): string {
  const [language = "", ...rest] = about.trim().split(/\s+/);
  const file = rest.join(" ").replace(/^(?:title|file(?:name)?)=["']?([^"']*)["']?$/, "$1");
  return (file === "" ? language : file).slice(0, 80);
}

function Coloured({ rows }: { readonly rows: Rows }) {
  return (
    <>
      {rows.map((pieces, at) => (
        <>
          {at === 0 ? "" : "\n"}
          {pieces.map(({ text, tone }) =>
            tone === "plain" ? text : <span class={`tone-${tone}`}>{text}</span>,
          )}
        </>
      ))}
    </>
  );
}
