/**
 * What the client must know about a dialect: how a history is written down, how an answer is read from a body or a
 * stream, and how a request is taken apart again for the judge.
 *
 * @module
 */

import { createHash } from "node:crypto";

import { isObject, type JsonObject, tryParseJson } from "../../../src/base/support/index.ts";
import type { Answer, Call, DialectName, Element, Reading, SeenThought, Slot, Thought } from "./truth.ts";

/** One piece of a true history. */
export type Entry =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "answer"; readonly answer: Answer }
  /** What the client kept of an answer it did not get whole: text only. */
  | { readonly kind: "partial"; readonly answer: Answer; readonly text: string }
  | { readonly kind: "results"; readonly answer: Answer; readonly texts: readonly string[] };

export interface ModelChoice {
  readonly id: string;
  readonly head: JsonObject;
  /** Head members that switch thinking off, if there are any. */
  readonly off?: JsonObject;
  /** Models to switch to and back from. */
  readonly others: readonly string[];
  /** Thoughts are bound to everything before them. */
  readonly bound?: true;
  /** A thought needs its call by id: with renamed calls it cannot come back. */
  readonly callProves?: true;
  /** It refuses an answer with calls without its thought, and thinking cannot be switched off. */
  readonly insists?: true;
  /** Readable thoughts go from model to model of one vendor. */
  readonly vendor?: string;
}

/** A request before it is written: the members of the head, and the list. */
export interface Draft {
  readonly head: JsonObject;
  readonly list: readonly Element[];
}

export interface DraftThought {
  readonly follower: number;
  readonly payloads: readonly string[];
  readonly text: string;
  readonly raw: JsonObject;
}

export interface Assembled {
  readonly pieces: readonly JsonObject[];
  readonly thoughts: readonly DraftThought[];
  readonly members: number;
  readonly calls: readonly Call[];
  readonly completed: boolean;
  /** The visible text. */
  readonly text: string;
}

export interface LossyDialect {
  readonly name: DialectName;
  readonly path: string;
  readonly list: "input" | "messages";
  readonly models: readonly ModelChoice[];
  headers(key: string): Readonly<Record<string, string>>;
  draft(entries: readonly Entry[], options: { readonly model: ModelChoice; readonly system: string }): Draft;
  /** `events`: of a stream, as far as it was read. */
  assemble(from: { readonly body: JsonObject } | { readonly events: readonly JsonObject[] }): Assembled;
  read(body: JsonObject): Reading;
  /** Whether it is this thought, as issued, in a field of its own. */
  same(thought: Thought, seen: SeenThought): boolean;
  /** Whether it is also all that the provider needs. */
  whole(thought: Thought, seen: SeenThought): boolean;
}

export const TOOLS: readonly JsonObject[] = [
  tool("read_file", { path: { type: "string" }, line: { type: "integer" } }, ["path"]),
  tool("list_files", { path: { type: "string" } }, ["path"]),
  tool("search_files", { pattern: { type: "string" }, limit: { type: "integer" } }, ["pattern"]),
  tool("write_file", { path: { type: "string" }, content: { type: "string" } }, ["path", "content"]),
  tool("get_weather", { city: { type: "string" } }, ["city"]),
];

function tool(name: string, properties: JsonObject, required: readonly string[]): JsonObject {
  return { name, parameters: { type: "object", properties, required } };
}

export function slotOf(slot: Omit<Slot, "from"> & { readonly from?: Slot["from"] }): Slot {
  return { ...slot, from: slot.from };
}

/** Arguments in one notation; text that is no JSON as it is. */
export function canonical(json: string): string {
  const value = tryParseJson(json);
  return value === undefined ? json : JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

export function placeOf(parts: readonly string[]): string {
  const hash = createHash("sha1");
  for (const part of parts) hash.update(`${part.length}\n${part}`);
  return hash.digest("base64");
}

/** The visible history of a request; system messages do not count. */
export function placeBefore(slots: readonly Slot[], end: number): string {
  return placeOf(slots.slice(0, end).flatMap(({ kind, mark }) => (kind === "system" ? [] : [mark])));
}

/** The same without the reminders and clocks that this client adds. */
export function barePlaceBefore(slots: readonly Slot[], end: number): string {
  return placeOf(
    slots
      .slice(0, end)
      .flatMap(({ kind, mark }) => (kind === "system" ? [] : [mark.replaceAll(VOLATILE, "")])),
  );
}

const VOLATILE = /\n<system-reminder>[^]*?<\/system-reminder>|\n\nCurrent time: \S+/g;

export function exactBefore({ head, slots }: Reading, end: number): string {
  return placeOf([head, ...slots.slice(0, end).map(({ exact }) => exact)]);
}

/** The last thought before a piece, on models that bind a thought to the one before it. */
export function thoughtBefore({ slots }: Reading, end: number): string {
  return (
    slots
      .slice(0, end)
      .findLast(({ thoughts }) => thoughts.length > 0)
      ?.thoughts.at(-1)?.json ?? ""
  );
}
