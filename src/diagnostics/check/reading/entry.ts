/**
 * A history of another tool as a list of entries, in the order in which they happened. An answer keeps the exact JSON of
 * its items where the file has it. What is left out is counted and named, so that nothing is lost silently.
 */

import type { InputPart } from "../../../base/events/index.ts";
import { type JsonObject, numberOf, stringOf } from "../../../base/support/index.ts";
import type { HistoryDialect } from "../history.ts";

/** A message to the model. `runtime`: the tool wrote it, not a person. */
export interface UserEntry {
  readonly kind: "user";
  readonly by: "person" | "runtime";
  readonly parts: readonly InputPart[];
  /** ISO 8601. */
  readonly at?: string | undefined;
}

/** One response of a model. */
export interface AnswerEntry {
  readonly kind: "answer";
  readonly dialect: HistoryDialect;
  /** JSON text: output items (Responses), content blocks (Messages) or one assistant message (chat). */
  readonly items: readonly string[];
  /** Who made it, as far as the file says. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** Default: completed. */
  readonly status?: "completed" | "incomplete" | "failed" | "cancelled" | undefined;
  readonly error?: string | undefined;
  readonly at?: string | undefined;
}

/** The result of a call. */
export interface ResultEntry {
  readonly kind: "result";
  readonly callId: string;
  readonly text: string;
  readonly failed?: boolean | undefined;
  /** The whole output as JSON text, if `text` is only a part of it. */
  readonly full?: string | undefined;
  readonly at?: string | undefined;
}

/** The tool replaced everything before an entry with a summary, which may be empty. */
export interface CutEntry {
  readonly kind: "cut";
  /** The index of the first entry that stays. */
  readonly before: number;
  readonly summary: string;
  readonly at?: string | undefined;
}

/** One entry of a history. */
export type HistoryEntry = UserEntry | AnswerEntry | ResultEntry | CutEntry;

/** What a reader of a format returns. */
export interface EntryList {
  readonly entries: readonly HistoryEntry[];
  readonly title?: string | undefined;
  /** The working directory that the file names. */
  readonly cwd?: string | undefined;
}

/** Counts what is left out, by name. */
export class LeftOutList {
  readonly #counts = new Map<string, number>();

  /** Adds one of a kind. `one` and `many` are its names in messages. */
  add(one: string, many: string, count = 1): void {
    const key = `${one}\n${many}`;
    if (count > 0) this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  /** For messages: `2 developer messages`. */
  get names(): readonly string[] {
    return [...this.#counts].map(([key, count]) => {
      const [one = "", many = ""] = key.split("\n");
      return `${count} ${count === 1 ? one : many}`;
    });
  }
}

/** Returns a time of a file as ISO 8601, or undefined if it is not one. Accepts text and milliseconds since 1970. */
export function timeOf(value: unknown): string | undefined {
  const ms = numberOf(value) ?? Date.parse(stringOf(value) ?? "");
  // Small numbers are counters, not times.
  return Number.isFinite(ms) && ms > 1e11 && ms < 8.64e15 ? new Date(ms).toISOString() : undefined;
}

/** Returns the first of these members that is a text. */
export function textIn(value: JsonObject, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = stringOf(value[key]);
    if (text !== undefined && text !== "") return text;
  }
  return undefined;
}
