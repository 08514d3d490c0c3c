/** What a content says in words, where it is a text or a list of parts. */

import { arrayOf, objectOf, stringOf } from "../../../base/support/index.ts";

/** Undefined: it has no words at all. */
export function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  const texts = arrayOf(content).flatMap((part) => stringOf(objectOf(part)["text"]) ?? []);
  return texts.length === 0 ? undefined : texts.join("\n");
}
