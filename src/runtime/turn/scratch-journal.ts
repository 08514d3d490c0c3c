/**
 * The scratch journal: deltas of the response under way, so that what a person saw before a crash is there after it.
 * One JSON array a line; a torn last line is ignored. Never the truth, never sent.
 */

import type { EventDraft } from "../../base/events/index.ts";
import { tryParseJson } from "../../base/support/index.ts";
import type { StreamEvent } from "../providers/index.ts";
import type { LiveItem } from "./live-item.ts";

type PartialKind = "reasoning" | "text" | "tool_call";

type Delta = Extract<StreamEvent, { readonly type: "delta" }>;

/** Collects the deltas of one batch. What follows on in the same part is one row: a batch has hundreds of small ones. */
export class ScratchWriter {
  readonly #response: string;
  #rows: string[] = [];
  #pieces: string[] = [];
  #part: { readonly delta: Delta; readonly item: LiveItem } | undefined;

  constructor(response: string) {
    this.#response = response;
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
    this.#pieces.push(delta.text);
  }

  /** The rows since it was last asked. */
  take(): string {
    this.#closePart();
    const rows = this.#rows;
    if (rows.length === 0) return "";
    this.#rows = [];
    return rows.join("");
  }

  #closePart(): void {
    if (this.#part === undefined) return;
    const { delta, item } = this.#part;
    const kind = item.kind === "message" ? "text" : item.kind;
    const name = item.name === undefined ? [] : [item.name];
    const part = `${delta.channel}${delta.part}`;
    const row = [this.#response, delta.outputIndex, kind, part, this.#pieces.join(""), ...name];
    this.#rows.push(`${JSON.stringify(row)}\n`);
    this.#pieces = [];
    this.#part = undefined;
  }
}

/** The partial events of one response that the journal holds; items that were finished are left out. */
export function partialsFromScratch(
  scratch: string,
  response: string,
  finished: ReadonlySet<number>,
): readonly EventDraft[] {
  const items = new Map<
    number,
    { kind: PartialKind; name: string | undefined; parts: Map<string, string> }
  >();
  for (const line of scratch.split("\n")) {
    const row = tryParseJson(line);
    if (!isRow(row) || row[0] !== response || finished.has(row[1])) continue;
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

type Row = readonly [string, number, PartialKind, string, string, string?];

function isRow(value: unknown): value is Row {
  return (
    Array.isArray(value) &&
    value.length >= 5 &&
    typeof value[0] === "string" &&
    typeof value[1] === "number" &&
    (value[2] === "reasoning" || value[2] === "text" || value[2] === "tool_call") &&
    typeof value[3] === "string" &&
    typeof value[4] === "string"
  );
}
