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

/** A sentence of the program itself, beside what was asked for. */
export function say({ stderr }: Pick<Terminal, "stderr">, text: string): void {
  stderr.write(`throughline: ${inertLine(text, 500)}\n`);
}
