/** The streams of the command line. Answers go to stdout, everything else to stderr. Only terminals get colour. */

import { inertJson, inertLine } from "./inert-text.ts";
import { own } from "./terminal-gate.ts";

export interface Terminal {
  /** True if both stdin and stdout are terminals, so that a person can be asked. */
  readonly interactive: boolean;
  /** True if only plain lines may be written: the terminal cannot move its cursor, or the user does not want it to. */
  readonly linesOnly: boolean;
  /** True if sentences replace symbols, for a screen reader. */
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

/** Prints JSON for programs, made inert if it goes to a terminal. */
export function printJson(out: Terminal["stdout"], value: unknown): void {
  const json = `${JSON.stringify(value, undefined, 2)}\n`;
  out.write(out.isTTY === true ? inertJson(json) : json); // still valid JSON when copied from a terminal
}

/** Prints like `printJson`, but in chunks, because a large session can exceed the maximum length of a string. */
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

/** Prints lines, many per write. */
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

/** Prints a message of the program itself to stderr. */
export function say({ stderr }: Pick<Terminal, "stderr">, text: string): void {
  stderr.write(`throughline: ${inertLine(text, 500)}\n`);
}
