/**
 * Wraps lines between words on a terminal and indents the rest; a terminal would break them inside words. Output for
 * programs stays unchanged: a pipe gets every line as it is, and JSON is never wrapped, because users copy it.
 */

import type { Terminal } from "./terminal.ts";
import { widthOf } from "./text-width.ts";

type Stream = Terminal["stdout"];

/** Returns the terminal with lines wrapped at the current width of its streams. */
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
  // Match a gap with the word after it; the gap is dropped where the line breaks.
  for (const [piece] of line.matchAll(/ *[^ ]+/g)) {
    if (row.trim() !== "" && widthOf(row) + widthOf(piece) > columns) {
      rows.push(row);
      row = hanging + piece.trimStart();
    } else row += piece;
  }
  return row === "" ? rows : [...rows, row];
}
