/**
 * Lines for a person on a narrow terminal: broken between words, the rest indented. A terminal breaks them in the middle.
 * What a program may read is left alone: a pipe gets every line as it is, and so does JSON anywhere, because a person
 * copies it.
 */

import type { Terminal } from "./terminal.ts";
import { widthOf } from "./text-width.ts";

type Stream = Terminal["stdout"];

/** The same terminal, its lines wrapped at what its streams are wide now. */
export function wrappedTerminal(terminal: Terminal): Terminal {
  return { ...terminal, stdout: wrapped(terminal.stdout), stderr: wrapped(terminal.stderr) };
}

export function wrapped(stream: Stream): Stream {
  if (stream.isTTY !== true) return stream;
  let midLine = false;
  const write = (text: string | Uint8Array, ...more: readonly unknown[]): boolean => {
    const whole = typeof text === "string" && !midLine && text.endsWith("\n") && !text.includes("\r");
    midLine = typeof text === "string" && text !== "" && !text.endsWith("\n");
    const { columns } = stream as { readonly columns?: number };
    const out = whole && columns !== undefined && columns > 0 ? wrapLines(text, columns) : text;
    return (stream.write as (...args: readonly unknown[]) => boolean)(out, ...more);
  };
  return Object.assign(Object.create(stream) as Stream, { write });
}

export function wrapLines(text: string, columns: number): string {
  return text
    .split("\n")
    .flatMap((line) => wrapLine(line, columns))
    .join("\n");
}

const JSON_LINE = /^\s*["[\]{}]/;

function wrapLine(line: string, columns: number): readonly string[] {
  if (widthOf(line) <= columns || JSON_LINE.test(line)) return [line];
  const indent = /^ */.exec(line)?.[0].length ?? 0;
  const hanging = " ".repeat(Math.min(indent + 2, Math.floor(columns / 3)));
  const rows: string[] = [];
  let row = "";
  // A gap and the word behind it: the gap goes where the line breaks.
  for (const [piece] of line.matchAll(/ *[^ ]+/g)) {
    if (row.trim() !== "" && widthOf(row) + widthOf(piece) > columns) {
      rows.push(row);
      row = hanging + piece.trimStart();
    } else row += piece;
  }
  return row === "" ? rows : [...rows, row];
}
