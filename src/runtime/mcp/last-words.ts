/** What a program wrote to its standard error before it ended, in one line: the part that says why. Pure. */

const ERROR = /\w*(?:Error|Exception)\b|\berror\b|\bcannot\b|\bnot found\b|\bdenied\b|\bfailed\b/i;
const LINES = 3;

/**
 * The last line that reads like an error, else the last lines. The traces of many languages end in lines that say
 * nothing: frames, brackets, the version of the runtime.
 */
export function lastWords(written: string): string {
  const lines = written
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !/^at\s/.test(line));
  return lines.findLast((line) => ERROR.test(line)) ?? lines.slice(-LINES).join(" / ");
}
