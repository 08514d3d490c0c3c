/**
 * What a part of reasoning shows: title and body. Placeholders some servers send instead of text count as nothing.
 */

import { readPartTitle } from "../../base/events/index.ts";

export interface PartText {
  readonly title: string | undefined;
  readonly body: string;
}

export function splitPart(text: string, complete: boolean): PartText {
  const found = readPartTitle(text, false);
  if (found.state === "pending") return { title: complete ? brokenOff(text) : undefined, body: "" };
  const body = found.state === "title" ? text.trimStart().replace(/^\*\*[^\n]*?\*\*/, "") : text;
  return { title: found.state === "title" ? found.title : undefined, body: withoutPlaceholder(body).trim() };
}

/** A title that was being written when the stream broke off: what there is of it, without the marks it would have had. */
function brokenOff(text: string): string | undefined {
  const closed = readPartTitle(`${text.trim().replace(/\*$/, "")}**`, true);
  return closed.state === "title" ? closed.title : undefined;
}

function withoutPlaceholder(text: string): string {
  const trimmed = text.trim();
  return trimmed === "[REDACTED]" || /^<!--[^]*-->$/.test(trimmed) ? "" : text;
}
