/** Exports the session as a file: its format, with or without reasoning, with or without likely secrets. */

import { useState } from "preact/hooks";

import { focusWhenShown } from "../focus-when-shown.ts";

const FORMATS = [
  ["markdown", "Markdown, to read and paste"],
  ["html", "HTML, one page without scripts"],
  ["jsonl", "JSONL, the whole session to import again"],
] as const;

interface Props {
  readonly id: string;
  readonly onDone: () => void;
}

export function ExportPanel({ id, onDone }: Props) {
  const [format, setFormat] = useState<string>("markdown");
  const [reasoning, setReasoning] = useState(true);
  const [redact, setRedact] = useState(false);
  const query = new URLSearchParams({ format, reasoning: String(reasoning), redact: String(redact) });
  return (
    <div class="export" role="group" aria-label="Export this session">
      <label>
        Format{" "}
        <select
          class="field"
          value={format}
          ref={focusWhenShown}
          onChange={(event) => setFormat(event.currentTarget.value)}
        >
          {FORMATS.map(([name, what]) => (
            <option key={name} value={name}>
              {what}
            </option>
          ))}
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={reasoning}
          onChange={(event) => setReasoning(event.currentTarget.checked)}
        />{" "}
        include thoughts
      </label>
      <label>
        <input
          type="checkbox"
          checked={redact}
          onChange={(event) => setRedact(event.currentTarget.checked)}
        />{" "}
        remove text that looks like a secret
      </label>
      <span class="card-buttons">
        <a
          class="button primary"
          href={`/api/sessions/${encodeURIComponent(id)}/export?${query.toString()}`}
          download
          onClick={() => setTimeout(onDone)}
        >
          Download
        </a>
      </span>
    </div>
  );
}
