/**
 * OpenRouter's `reasoning_details[]`: entries streamed in pieces, sent back as one array, in order and unmodified
 * (failures.md V08). Pieces with the same index and type belong together: their text grows, everything else is set.
 */

import { type JsonObject, numberOf, stringOf } from "../../../base/support/index.ts";

const GROWING = ["text", "summary", "data"] as const;

export class ReasoningDetails {
  readonly #entries: JsonObject[] = [];

  get length(): number {
    return this.#entries.length;
  }

  add(pieces: readonly JsonObject[]): void {
    for (const piece of pieces) {
      const last = this.#entries.at(-1);
      if (last === undefined || !continues(last, piece)) this.#entries.push({ ...piece });
      else this.#entries[this.#entries.length - 1] = joined(last, piece);
    }
  }

  toJson(): string {
    return JSON.stringify(this.#entries);
  }

  get text(): string {
    return this.#entries.map((one) => stringOf(one["text"]) ?? stringOf(one["summary"]) ?? "").join("");
  }
}

function continues(entry: JsonObject, piece: JsonObject): boolean {
  // Without an index every piece stands for itself, except that plain text goes on as text.
  const index = numberOf(piece["index"]);
  return entry["type"] === piece["type"] && index !== undefined && numberOf(entry["index"]) === index;
}

function joined(entry: JsonObject, piece: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...entry };
  for (const [key, value] of Object.entries(piece)) {
    const before = stringOf(entry[key]);
    const grows = (GROWING as readonly string[]).includes(key) && before !== undefined;
    if (grows && typeof value === "string") merged[key] = before + value;
    else if (value !== null) merged[key] = value;
  }
  return merged;
}
