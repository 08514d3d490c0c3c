/** Until it gets a better one, a session's title is the start of its first message. */

import type { Input } from "../../base/api/index.ts";
import { typedText } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";

const MAX_TITLE = 60;

export function titleOf(input: Input): string {
  const text = typeof input === "string" ? input : typedText(input);
  const [words = ""] = text.split(ENCLOSED);
  return oneLine(words.trim() === "" ? text : words)
    .slice(0, MAX_TITLE)
    .toWellFormed();
}

/** Text appended to a person's message in its own tag (piped input). It is not what the session is about. */
const ENCLOSED = /\n\n<[a-z][a-z_-]*>\n/;

const MAX_GIVEN_TITLE = 200;

/** Cleans a given title: one line of bounded length without control characters. */
export function cleanTitle(title: string): string {
  const clean = oneLine(title).slice(0, MAX_GIVEN_TITLE).toWellFormed();
  if (clean === "") throw codedError("title_empty", "the title is empty");
  return clean;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
}
