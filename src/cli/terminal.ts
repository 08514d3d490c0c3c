/**
 * The streams of the command line. Answers go to stdout, everything else to stderr. Colour only where a person looks.
 *
 * @module
 */

export interface Terminal {
  /** Both ways: a person is there. */
  readonly interactive: boolean;
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stdin: NodeJS.ReadStream;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

export function systemTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const colour =
    env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "0"
      ? true
      : (env["NO_COLOR"] ?? "") === "" && stderr.isTTY && env["TERM"] !== "dumb";
  const style = (code: number) => (text: string) => (colour ? `\u001B[${code}m${text}\u001B[0m` : text);
  return {
    interactive: stdin.isTTY && stdout.isTTY,
    stdin,
    stdout,
    stderr,
    dim: style(2),
    bold: style(1),
  };
}
