/**
 * The scratch journal: the starts and deltas of the items being generated. It preserves what a person saw before a
 * crash, and shows it to followers in other processes.
 * Each row is a JSON array; unreadable rows are skipped. Never the truth, never sent.
 */

import type { EventDraft } from "../../base/events/index.ts";
import { tryParseJson } from "../../base/support/index.ts";
import type { DeltaChannel, StreamEvent } from "../providers/index.ts";
import type { LiveItem } from "./live-item.ts";

type PartialKind = "reasoning" | "text" | "tool_call";

type Delta = Extract<StreamEvent, { readonly type: "delta" }>;

type ItemStart = Extract<StreamEvent, { readonly type: "item_start" }>;

/**
 * Collects the deltas of one batch. Consecutive deltas of the same part become one row: a batch has hundreds of small
 * ones.
 */
export class ScratchWriter {
  readonly #response: string;
  #rows: Row[] = [];
  /** The text of the row that is not closed. Grown piece by piece: the engine copies it once, when the row is written. */
  #text = "";
  #part: { readonly delta: Delta; readonly item: LiveItem } | undefined;

  constructor(response: string) {
    this.#response = response;
  }

  /** Readers that do not know these rows skip them: a first delta also starts an item. */
  start({ outputIndex, kind, name, callId, phase }: ItemStart): void {
    if (kind === "other") return;
    this.#closePart();
    this.#rows.push([this.#response, outputIndex, "start", rowKind(kind), { name, callId, phase }]);
  }

  add(delta: Delta, item: LiveItem): void {
    const before = this.#part?.delta;
    if (
      before?.outputIndex !== delta.outputIndex ||
      before.channel !== delta.channel ||
      before.part !== delta.part
    )
      this.#closePart();
    this.#part ??= { delta, item };
    this.#text += delta.text;
  }

  /** The rows added since the last call. */
  take(): readonly string[] {
    if (this.#rows.length === 0) {
      const row = this.#takePart();
      return row === undefined ? NO_ROWS : [JSON.stringify(row)];
    }
    this.#closePart();
    const rows = this.#rows;
    this.#rows = [];
    return rows.map((row) => JSON.stringify(row));
  }

  /** The same for one item. `take` then returns those of the others. */
  takeItem(outputIndex: number): readonly Row[] {
    this.#closePart();
    const own = this.#rows.filter((row) => row[1] === outputIndex);
    if (own.length > 0) this.#rows = this.#rows.filter((row) => row[1] !== outputIndex);
    return own;
  }

  #closePart(): void {
    const row = this.#takePart();
    if (row !== undefined) this.#rows.push(row);
  }

  #takePart(): Row | undefined {
    if (this.#part === undefined) return undefined;
    const { delta, item } = this.#part;
    const part = `${delta.channel}${delta.part}`;
    const row = [this.#response, delta.outputIndex, rowKind(item.kind), part, this.#text] as const;
    this.#text = "";
    this.#part = undefined;
    return item.name === undefined ? row : [...row, item.name];
  }
}

export type Row = readonly [response: string, outputIndex: number, ...rest: readonly unknown[]];

const NO_ROWS: readonly string[] = [];

function rowKind(kind: ItemStart["kind"]): string {
  return kind === "message" ? "text" : kind;
}

/** The partial events of one response, rebuilt from the journal. Finished items are omitted. */
export function partialsFromScratch(
  scratch: readonly string[],
  response: string,
  finished: ReadonlySet<number>,
): readonly EventDraft[] {
  const items = new Map<
    number,
    { kind: PartialKind; name: string | undefined; parts: Map<string, string> }
  >();
  for (const line of scratch) {
    const row = tryParseJson(line);
    if (!isDeltaRow(row) || row[0] !== response || finished.has(row[1])) continue;
    const [, outputIndex, kind, part, text, name] = row;
    const item = items.get(outputIndex) ?? { kind, name, parts: new Map<string, string>() };
    item.parts.set(part, (item.parts.get(part) ?? "") + text);
    items.set(outputIndex, item);
  }
  return [...items].map(([outputIndex, { kind, name, parts }]) => ({
    type: "partial",
    response,
    outputIndex,
    kind,
    parts: [...parts.values()],
    name,
  }));
}

/** A row as stream events. `start` is present even if the item's start row is missing. */
export interface ReadRow {
  readonly response: string;
  readonly start: ItemStart;
  readonly delta: Delta | undefined;
}

/** Returns undefined if the line is not a row. */
export function readRow(line: string): ReadRow | undefined {
  const row = tryParseJson(line);
  if (isStartRow(row)) {
    const [response, outputIndex, , kind, facts] = row;
    const of = (key: string): string | undefined => {
      const value = facts[key];
      return typeof value === "string" ? value : undefined;
    };
    const start = {
      ...startOf(outputIndex, kind),
      name: of("name"),
      callId: of("callId"),
      phase: of("phase"),
    };
    return { response, start, delta: undefined };
  }
  if (!isDeltaRow(row)) return undefined;
  const [response, outputIndex, kind, place, text, name] = row;
  const [, channel, part] = /^([a-z]+)(\d+)$/.exec(place) ?? [];
  if (!isChannel(channel)) return undefined;
  return {
    response,
    start: { ...startOf(outputIndex, kind), name },
    delta: { type: "delta", outputIndex, channel, part: Number(part), text },
  };
}

function startOf(outputIndex: number, kind: PartialKind): ItemStart {
  return { type: "item_start", outputIndex, kind: kind === "text" ? "message" : kind };
}

function isChannel(word: string | undefined): word is DeltaChannel {
  return word === "summary" || word === "reasoning" || word === "text" || word === "arguments";
}

type StartRow = readonly [string, number, "start", PartialKind, Readonly<Record<string, unknown>>];
type DeltaRow = readonly [string, number, PartialKind, string, string, string?];

function isStartRow(value: unknown): value is StartRow {
  return (
    isRow(value) &&
    value[2] === "start" &&
    isKind(value[3]) &&
    typeof value[4] === "object" &&
    value[4] !== null
  );
}

function isDeltaRow(value: unknown): value is DeltaRow {
  return isRow(value) && isKind(value[2]) && typeof value[3] === "string" && typeof value[4] === "string";
}

function isRow(value: unknown): value is readonly unknown[] {
  return (
    Array.isArray(value) && value.length >= 5 && typeof value[0] === "string" && typeof value[1] === "number"
  );
}

function isKind(value: unknown): value is PartialKind {
  return value === "reasoning" || value === "text" || value === "tool_call";
}
