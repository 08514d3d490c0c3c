/**
 * The scratch journal: deltas of the response under way, so that what a person saw before a crash is there after it.
 * One JSON array a line; a torn last line is ignored. Never the truth, never sent.
 *
 * @module
 */

import type { EventDraft } from "../events/index.ts";
import { tryParseJson } from "../support/index.ts";

type PartialKind = "reasoning" | "text" | "tool_call";

export interface ScratchDelta {
  readonly outputIndex: number;
  readonly kind: PartialKind;
  readonly part: string;
  readonly text: string;
  readonly name?: string;
}

export function toScratch(response: string, deltas: readonly ScratchDelta[]): string {
  return deltas
    .map(
      ({ outputIndex, kind, part, text, name }) =>
        `${JSON.stringify([response, outputIndex, kind, part, text, ...(name === undefined ? [] : [name])])}\n`,
    )
    .join("");
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
    ...(name === undefined ? {} : { name }),
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
