/** The area below the printed blocks: a list, a question, or the input, with the state of the session above it. */

import { footer } from "./footer.ts";
import type { EditorView, LineEditor } from "./line-editor.ts";
import type { LiveSession } from "./live-session.ts";
import type { Picker } from "./picker.ts";
import type { QuestionDialog } from "./question-dialog.ts";
import type { Rows } from "./rows.ts";
import { statusRows } from "./status-line.ts";
import type { Paint } from "./style.ts";
import { wrap } from "./terminal-library.ts";
import type { TuiOptions } from "./tui-options.ts";

export interface InputAreaParts {
  readonly options: Pick<TuiOptions, "handle" | "directory" | "style">;
  readonly session: LiveSession;
  readonly editor: LineEditor;
  readonly dialog: QuestionDialog;
  readonly picker: Picker | undefined;
  readonly hint: string | undefined;
}

export function inputArea(parts: InputAreaParts, width: number, height: number): EditorView {
  const { session, editor, dialog, picker, hint } = parts;
  const { style } = parts.options;
  const prompt = dialog.render(width, Math.max(5, height - 3), style);
  const told = (text: string, paint: Paint): Rows => wrap(text, width).map((row) => paint(row));
  const shared = {
    steering: session.steering,
    queue: session.queue,
    typing: editor.text.trim() !== "",
    waits: session.waits,
    workingMs: prompt === undefined ? session.busyFor : undefined,
    askedMs: session.askedFor,
    watching: parts.options.handle.access === "read",
    hint,
    status: status(parts, width),
    above: [],
  };
  if (picker !== undefined) {
    const rows = picker.render(width, Math.min(height - 2, 14), style);
    const cursor = { row: rows.length - 1, column: 0 }; // on the last row, as always: see footer.ts
    return footer({ ...shared, input: { rows, cursor } }, width, height, style);
  }
  if (prompt !== undefined && dialog.hasKeys) {
    const above = editor.text === "" ? [] : told("Press Tab to return to your message", style.dim);
    return footer({ ...shared, above, input: prompt }, width, height, style);
  }
  const above: Rows =
    prompt === undefined
      ? stateRows(parts, width)
      : [...prompt.asked, ...told("Press Tab to answer, Enter to queue your message", style.warn)];
  return footer({ ...shared, above, input: editor.render(width) }, width, height, style);
}

const FENCED =
  "This terminal may no longer write the session: another process may have gone on with it. Press Enter to open it again.";
const AWAY = "The server does not answer. Reconnecting… Messages you send wait until it is back.";

function stateRows({ options, session }: InputAreaParts, width: number): Rows {
  const { handle, style } = options;
  const text = session.away
    ? AWAY
    : session.fenced
      ? FENCED
      : handle.access === "read"
        ? readerText(options, session)
        : "";
  return text === "" ? [] : wrap(text, width).map((row) => style.warn(row));
}

function readerText({ handle }: InputAreaParts["options"], { facts }: LiveSession): string {
  const asks =
    facts.question === undefined && facts.elicitations.length === 0
      ? ""
      : " It is waiting for an answer there.";
  return handle.writer === "live"
    ? `Another process is writing this session; following it.${asks} /fork continues in a copy.`
    : "No process is writing this session now. Press Enter to take over.";
}

function status({ options, session }: InputAreaParts, width: number): Rows {
  const { handle, directory, style } = options;
  const facts = {
    directory,
    session: handle.title ?? handle.id,
    usage: session.facts.usage,
    costUsd: handle.costUsd ?? session.facts.costUsd,
    model: handle.model.label,
    effort: handle.model.settings.effort,
    context: handle.context,
    reading: handle.access === "read" || session.fenced,
  };
  return statusRows(facts, width, style);
}
