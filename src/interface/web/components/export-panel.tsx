/**
 * The session as a file: in which form, with or without what the model thought and what looks like a secret.
 */

import { useState } from "preact/hooks";

import { focusWhenShown } from "../focus-when-shown.ts";

const FORMATS = [
  ["markdown", "Markdown, to read and paste"],
  ["html", "HTML, one page without script"],
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
    <div class="switch export" role="group" aria-label="Export this session">
      <label>
        Format{" "}
        <select
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
        with reasoning
      </label>
      <label>
        <input
          type="checkbox"
          checked={redact}
          onChange={(event) => setRedact(event.currentTarget.checked)}
        />{" "}
        without what looks like a secret
      </label>
      <span class="pair">
        <a
          class="button primary"
          href={`/api/sessions/${encodeURIComponent(id)}/export?${query.toString()}`}
          download
          onClick={() => setTimeout(onDone)}
        >
          Download
        </a>
        <button type="button" onClick={onDone}>
          Close
        </button>
      </span>
    </div>
  );
}
