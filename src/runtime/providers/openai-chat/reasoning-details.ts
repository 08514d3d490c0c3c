/**
 * Reasoning as a list of entries that a stream delivers in parts: OpenRouter's `reasoning_details[]` (failures.md V08)
 * and LiteLLM's `thinking_blocks[]`. It is sent back as one array, in order and unmodified. Only text grows. A payload
 * is complete when it arrives, so two payloads are two entries, and so are parts with different ids.
 */

import { type JsonObject, numberOf, stringOf } from "../../../base/support/index.ts";

/** The fields of an entry that hold text. */
const WORDS = ["text", "summary", "thinking"] as const;

export class ReasoningDetails {
  readonly #entries: JsonObject[] = [];

  /** Adds parts and returns their readable text. */
  add(pieces: readonly JsonObject[]): string {
    for (const piece of pieces) {
      const at = this.#entries.findLastIndex((entry, index) =>
        continues(entry, piece, index === this.#entries.length - 1),
      );
      const entry = this.#entries[at];
      if (entry === undefined) this.#entries.push({ ...piece });
      else this.#entries[at] = joined(entry, piece);
    }
    return pieces.map(wordsOf).join("");
  }

  toJson(): string {
    return JSON.stringify(this.#entries);
  }
}

function wordsOf(entry: JsonObject): string {
  return WORDS.map((key) => stringOf(entry[key]) ?? "").join("");
}

/** Whether a part continues an entry: by index, or if it has none, the last entry unless that is finished. */
function continues(entry: JsonObject, piece: JsonObject, isLast: boolean): boolean {
  const index = numberOf(piece["index"]);
  if (entry["type"] !== piece["type"] || numberOf(entry["index"]) !== index) return false;
  if (index === undefined && !isLast) return false;
  if (differ(entry["id"], piece["id"]) || differ(entry["signature"], piece["signature"])) return false;
  if (has(entry["data"]) && has(piece["data"])) return false;
  // A signed entry is complete: more text belongs to another entry.
  return !(has(entry["signature"]) && wordsOf(piece) !== "");
}

function has(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function differ(one: unknown, other: unknown): boolean {
  return has(one) && has(other) && one !== other;
}

function joined(entry: JsonObject, piece: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...entry };
  for (const [key, value] of Object.entries(piece)) {
    const before = stringOf(entry[key]);
    const grows = (WORDS as readonly string[]).includes(key) && before !== undefined;
    if (grows && typeof value === "string") merged[key] = before + value;
    else if (value !== null && !(value === "" && before !== undefined)) merged[key] = value;
  }
  return merged;
}
