/** The title and body to show for a part of reasoning. Placeholders that some servers send instead of text are dropped. */

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

/** Returns the start of a title that the stream cut off, without its Markdown marks. */
function brokenOff(text: string): string | undefined {
  const closed = readPartTitle(`${text.trim().replace(/\*$/, "")}**`, true);
  return closed.state === "title" ? closed.title : undefined;
}

function withoutPlaceholder(text: string): string {
  const trimmed = text.trim();
  return trimmed === "[REDACTED]" || /^<!--[^]*-->$/.test(trimmed) ? "" : text;
}
