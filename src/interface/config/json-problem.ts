/**
 * Where a file stops being JSON. The parser's own words are not told: they quote the file, which may hold what nobody
 * should read on a screen, and only some of them say where.
 */

import { messageOf } from "../../base/support/index.ts";

/** "it is not JSON: see line 3, column 9"; undefined where it is JSON. */
export function jsonProblem(text: string): string | undefined {
  const end = text.trimEnd().length;
  if (isBegun(text, end) && isJson(text)) return undefined;
  if (isBegun(text, end))
    return `it is not whole JSON: it ends at ${positionOf(text, end)}, before it is closed`;
  // A text that can still become JSON has only beginnings that can: the first that cannot ends with what is wrong.
  let good = 0;
  let bad = end;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isBegun(text, middle)) good = middle;
    else bad = middle;
  }
  return `it is not JSON: see ${positionOf(text, good)}`;
}

/** Whether so much of it is JSON, or its beginning. */
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
