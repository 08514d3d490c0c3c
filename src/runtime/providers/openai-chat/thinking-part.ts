/**
 * Mistral's thoughts: parts of the content, `{type: "thinking", thinking: [chunks], signature?, closed?}`. A stream brings
 * one part in pieces; what goes back is the part with all it came with, because the signature is of the whole.
 */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";

/** Text alone is for people; chunks of other types (references) stay where they stand. */
export function wordsOfPart({ thinking }: JsonObject): string {
  if (typeof thinking === "string") return thinking;
  return arrayOf(thinking)
    .map((chunk) => stringOf(objectOf(chunk)["text"]) ?? "")
    .join("");
}

/**
 * More of the part before it. `closed` tells nothing: Mistral says it of pieces in the middle too. What is signed has been
 * said, so more words, or another signature, are another part's.
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
