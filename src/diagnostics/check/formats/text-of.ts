/** The text of a content that is a string or a list of parts. */

import { arrayOf, objectOf, stringOf } from "../../../base/support/index.ts";

/** Undefined if it has no text. */
export function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  const texts = arrayOf(content).flatMap((part) => stringOf(objectOf(part)["text"]) ?? []);
  return texts.length === 0 ? undefined : texts.join("\n");
}
