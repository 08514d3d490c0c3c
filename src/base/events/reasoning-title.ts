/**
 * The title of a reasoning part: its leading `**…**` line (failures.md U09). Streaming text may not have closed it yet.
 */

export type PartTitle =
  | { readonly state: "pending" }
  | { readonly state: "none" }
  | { readonly state: "title"; readonly title: string };

const MAX_TITLE = 80;

/** Reads the title from the text so far. `complete` says that no more text will follow. */
export function readPartTitle(text: string, complete: boolean): PartTitle {
  const body = text.trimStart();
  if (body === "" || body === "*") return complete ? { state: "none" } : { state: "pending" };
  if (!body.startsWith("**")) return { state: "none" };
  const close = body.indexOf("**", 2);
  const lineEnd = body.indexOf("\n");
  if (close > 2 && (lineEnd === -1 || close < lineEnd)) {
    const title = visible(body.slice(2, close)).slice(0, MAX_TITLE);
    return title === "" ? { state: "none" } : { state: "title", title };
  }
  // An unclosed ** on a finished line, or a line longer than any title, is not a title.
  if (complete || lineEnd !== -1 || body.length > MAX_TITLE * 2) return { state: "none" };
  return { state: "pending" };
}

/** Control characters in a title would move a terminal's cursor. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "").trim();
}
