/**
 * The streams of the command line. Answers go to stdout, everything else to stderr. Colour only where a person looks.
 */

import { inertJson, inertLine } from "./inert-text.ts";
import { own } from "./terminal-gate.ts";

export interface Terminal {
  /** Both ways: a person is there. */
  readonly interactive: boolean;
  /** Only lines, one after the other: a terminal that cannot move its cursor, or a person who wants none of it. */
  readonly linesOnly: boolean;
  /** Sentences instead of signs: a screen reader reads them out. */
  readonly spoken: boolean;
  readonly colour: boolean;
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stdin: NodeJS.ReadStream;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

export function systemTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const dumb = env["TERM"] === "dumb";
  const colour =
    env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "0"
      ? true
      : (env["NO_COLOR"] ?? "") === "" && stderr.isTTY && !dumb;
  const style = (code: number) => (text: string) => (colour ? `${own(code)}${text}${own(0)}` : text);
  const spoken = !["", "0", "false"].includes(env["ACCESSIBLE"] ?? "");
  return {
    interactive: stdin.isTTY && stdout.isTTY,
    linesOnly: dumb || spoken,
    spoken,
    colour,
    stdin,
    stdout,
    stderr,
    dim: style(2),
    bold: style(1),
  };
}

/** For a program, and for whoever looks at what one gets. */
export function printJson(out: Terminal["stdout"], value: unknown): void {
  const json = `${JSON.stringify(value, undefined, 2)}\n`;
  out.write(out.isTTY === true ? inertJson(json) : json); // what a person copies from a terminal is JSON too
}

/** The same text as `printJson`, written in pieces: all of a large session is longer than one string can be. */
export function printJsonList(out: Terminal["stdout"], values: readonly unknown[]): void {
  if (values.length === 0) printJson(out, values);
  else printLines(out, jsonLines(values));
}

function* jsonLines(values: readonly unknown[]): Generator<string> {
  yield "[";
  for (const [index, value] of values.entries()) {
    const comma = index === values.length - 1 ? "" : ",";
    yield `  ${JSON.stringify(value, undefined, 2).replaceAll("\n", "\n  ")}${comma}`;
  }
  yield "]";
}

/** Each line with its line break, many lines in one write. */
export function printLines(out: Terminal["stdout"], lines: Iterable<string>): void {
  let piece: string[] = [];
  let length = 0;
  for (const line of lines) {
    piece.push(line, "\n");
    length += line.length;
    if (length < PIECE_LENGTH) continue;
    out.write(piece.join(""));
    piece = [];
    length = 0;
  }
  if (piece.length > 0) out.write(piece.join(""));
}

const PIECE_LENGTH = 1024 * 1024;

/** A sentence of the program itself, beside what was asked for. */
export function say({ stderr }: Pick<Terminal, "stderr">, text: string): void {
  stderr.write(`throughline: ${inertLine(text, 500)}\n`);
}
