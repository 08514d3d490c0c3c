/**
 * Mistral's thoughts are parts of the content: `{type: "thinking", thinking: [chunks], signature?, closed?}`. A stream
 * delivers a part in several pieces. It is sent back whole, with every field, because the signature covers all of it.
 */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";

/** The readable text of a part. Chunks of other types (references) stay in the part. */
export function wordsOfPart({ thinking }: JsonObject): string {
  if (typeof thinking === "string") return thinking;
  return arrayOf(thinking)
    .map((chunk) => stringOf(objectOf(chunk)["text"]) ?? "")
    .join("");
}

/**
 * Whether a piece continues the part. `closed` does not help: Mistral sets it on pieces in the middle too. A signed
 * part is complete, so more text or another signature belongs to a new part.
 */
export function goesOn(part: JsonObject, piece: JsonObject): boolean {
  const signature = stringOf(part["signature"]) ?? "";
  if (signature === "") return true;
  return wordsOfPart(piece) === "" && [undefined, null, "", signature].includes(piece["signature"] as string);
}

export function joinedPart(part: JsonObject, piece: JsonObject): JsonObject {
  const rest = Object.entries(piece).filter(([key, value]) => key !== "thinking" && value !== null);
  return {
    ...part,
    thinking: joinedChunks(part["thinking"], piece["thinking"]),
    ...Object.fromEntries(rest),
  };
}

function joinedChunks(before: unknown, more: unknown): unknown {
  if (typeof before === "string" && typeof more === "string") return before + more;
  const chunks = [...arrayOf(before)];
  for (const chunk of arrayOf(more)) {
    const last = chunks.at(-1);
    const joins = isObject(last) && isObject(chunk) && last["type"] === "text" && chunk["type"] === "text";
    if (!joins) chunks.push(chunk);
    else chunks[chunks.length - 1] = { ...last, ...chunk, text: textOf(last) + textOf(chunk) };
  }
  return chunks;
}

function textOf(chunk: JsonObject): string {
  return stringOf(chunk["text"]) ?? "";
}
