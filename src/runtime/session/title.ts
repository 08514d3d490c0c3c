/** Until it gets a better one, a session's title is the start of its first message. */

import type { Input } from "../../base/api/index.ts";
import { typedText } from "../../base/events/index.ts";
import { codedError, wholeStart, withoutActive } from "../../base/support/index.ts";

const MAX_TITLE = 60;

export function titleOf(input: Input): string {
  const text = typeof input === "string" ? input : typedText(input);
  const [words = ""] = text.split(ENCLOSED);
  return oneLine(words.trim() === "" ? text : words, MAX_TITLE);
}

/** Text appended to a person's message in its own tag (piped input). It is not what the session is about. */
const ENCLOSED = /\n\n<[a-z][a-z_-]*>\n/;

const MAX_GIVEN_TITLE = 200;

/** Cleans a given title: one line of bounded length without control characters. */
export function cleanTitle(title: string): string {
  const clean = oneLine(title, MAX_GIVEN_TITLE);
  if (clean === "") throw codedError("title_empty", "the title is empty");
  return clean;
}

/** One line that ends between graphemes. Invisible characters stay only where they join emoji or letters. */
function oneLine(text: string, maxLength: number): string {
  const head = text
    .trimStart()
    .slice(0, LOOKED * maxLength)
    .toWellFormed();
  const line = withoutActive(head.replaceAll(/[\s\p{Cc}]+/gu, " "))
    .replaceAll(/ {2,}/g, " ")
    .trim();
  return wholeStart(line, maxLength).trim();
}

/** A title is looked for in so much of a long text: characters that are left out take room there. */
const LOOKED = 16;
