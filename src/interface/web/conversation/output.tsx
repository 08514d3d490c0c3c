/** The output of a tool: its first lines, and all of them on demand. Long output must not slow the page down. */

import { useState } from "preact/hooks";

const FEW = 12;
/** Even "all lines" stops here: a page with more text in one element no longer scrolls well. The export has the rest. */
const MOST = 5000;

interface Props {
  readonly text: string;
  readonly name?: string;
  readonly bad?: boolean;
  /** Shows the last lines instead: output that is still growing. */
  readonly tail?: boolean;
}

export function Output({ text, name = "Output", bad = false, tail = false }: Props) {
  const [all, setAll] = useState(false);
  const lines = text.replaceAll(/^\n+|\n$/g, "").split("\n");
  const few = tail ? lines.slice(-FEW) : lines.slice(0, FEW);
  const shown = all ? lines.slice(0, MOST) : few;
  return (
    <>
      <pre class={bad ? "output bad-output" : "output"} tabIndex={0} role="group" aria-label={name}>
        {text === "" ? "(no output)" : shown.join("\n")}
      </pre>
      {lines.length > FEW ? (
        <p class="output-foot">
          <button type="button" class="link" onClick={() => setAll(!all)}>
            {all ? `First ${FEW} lines` : `All ${lines.length} lines`}
          </button>
          {all && lines.length > MOST ? ` The first ${MOST} are shown; the export has all.` : ""}
        </p>
      ) : null}
    </>
  );
}
