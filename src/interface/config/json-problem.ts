/**
 * Finds where a file stops being JSON. The parser's own message is not shown, because it quotes the file, which may
 * contain secrets, and often gives no position.
 */

import { messageOf } from "../../base/support/index.ts";

/** Returns, for example, "invalid JSON at line 3, column 9"; undefined for valid JSON. */
export function jsonProblem(text: string): string | undefined {
  const end = text.trimEnd().length;
  if (isBegun(text, end) && isJson(text)) return undefined;
  if (isBegun(text, end)) return `incomplete JSON: it ends at ${positionOf(text, end)} before it is closed`;
  // Every prefix of a valid beginning is valid, so the shortest invalid prefix ends at the problem.
  let good = 0;
  let bad = end;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isBegun(text, middle)) good = middle;
    else bad = middle;
  }
  return `invalid JSON at ${positionOf(text, good)}`;
}

/** Returns whether a prefix of this length is JSON or the beginning of JSON. */
function isBegun(text: string, length: number): boolean {
  try {
    JSON.parse(text.slice(0, length));
    return true;
  } catch (error) {
    const problem = messageOf(error);
    const at = /at position (\d+)/.exec(problem)?.[1];
    return /end of JSON input|Unterminated/.test(problem) || (at !== undefined && Number(at) >= length);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function positionOf(text: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}
