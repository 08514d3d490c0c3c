/**
 * Splits a growing Markdown text into chunks that no longer change. A chunk ends at a blank line outside a code fence,
 * if the next line does not continue it. So printed chunks stay right when more text arrives.
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

export function markdownChunks(text: string): readonly string[] {
  const chunks: string[] = [];
  let lines: string[] = [];
  let fence: string | undefined;
  let blank = false;
  for (const line of text.split("\n")) {
    const empty = line.trim() === "";
    if (blank && !empty && fence === undefined && !/^\s/.test(line)) {
      chunks.push(lines.join("\n").trimEnd());
      lines = [];
    }
    lines.push(line);
    fence = nextFence(line, fence);
    blank = empty;
  }
  const last = lines.join("\n");
  if (last.trim() !== "" || chunks.length === 0) chunks.push(last);
  return chunks;
}

/** Returns the fence that is open after this line. */
function nextFence(line: string, open: string | undefined): string | undefined {
  const fence = FENCE.exec(line)?.[1];
  if (fence === undefined) return open;
  if (open === undefined) return fence;
  const closes = fence.startsWith(open) && line.trim() === fence;
  return closes ? undefined : open;
}

export function hasCode(text: string): boolean {
  return /^[ \t>]*(?:`{3}|~{3})/m.test(text);
}

/** The row below the header of a table. */
const DELIMITERS = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** True if the text may have a table, whose columns become wider while it grows. */
export function hasTable(text: string): boolean {
  return text.split("\n").some((line) => line.includes("|") && DELIMITERS.test(line));
}
