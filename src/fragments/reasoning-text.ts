/**
 * What a part of reasoning shows: title and body. Placeholders some servers send instead of text count as nothing.
 *
 * @module
 */

import { readPartTitle } from "../events/index.ts";

export interface PartText {
  readonly title: string | undefined;
  readonly body: string;
}

export function splitPart(text: string, complete: boolean): PartText {
  const found = readPartTitle(text, complete);
  if (found.state === "pending") return { title: undefined, body: "" };
  const body = found.state === "title" ? text.trimStart().replace(/^\*\*[^\n]*?\*\*/, "") : text;
  return { title: found.state === "title" ? found.title : undefined, body: withoutPlaceholder(body).trim() };
}

function withoutPlaceholder(text: string): string {
  const trimmed = text.trim();
  return trimmed === "[REDACTED]" || /^<!--[^]*-->$/.test(trimmed) ? "" : text;
}
