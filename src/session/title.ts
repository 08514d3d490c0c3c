/**
 * Until somebody gives it a better one, a session is called by its first words.
 *
 * @module
 */

import type { Input } from "./types.ts";

const MAX_TITLE = 60;

export function titleOf(input: Input): string {
  const text =
    typeof input === "string"
      ? input
      : input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  return text
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, MAX_TITLE)
    .toWellFormed();
}
