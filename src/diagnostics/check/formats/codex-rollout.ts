/**
 * Codex rollouts: lines `{timestamp, type, payload}`. `response_item` lines are Responses items as they are sent; the last
 * `compacted` line replaces everything before it.
 */

import { isObject, sliceArray, sliceMember, stringOf } from "../../../base/support/index.ts";
import { editResponses } from "../edit-responses.ts";
import type { RecordFile } from "../element-list.ts";
import type { Edit, History, Piece } from "../history.ts";
import { jsonLines } from "../json-lines.ts";
import { atPath, textMember, withMember } from "../json-text.ts";
import type { Slot } from "../piece-list.ts";
import { inferGroups } from "./infer-groups.ts";

interface StoredItem {
  readonly line: number;
  /** In the replacement history of a compaction. */
  readonly at?: number;
  readonly text: string;
}

export function openCodexRollout(text: string): History {
  const lines = jsonLines(text);
  const items = itemsOf(lines);
  const version = lines.values
    .map((value) => (value?.["type"] === "session_meta" ? value["payload"] : undefined))
    .find(isObject)?.["cli_version"];
  return {
    format: "codex-rollout",
    version: stringOf(version),
    dialect: "openai-responses",
    pieces: inferGroups(
      items.map(({ line, at, text: item }): Piece => ({
        text: item,
        where: at === undefined ? `line ${line + 1}` : `line ${line + 1}, replacement_history[${at}]`,
      })),
    ),
    damage: lines.damage,
    moves: items.every(({ at }) => at === undefined),
    apply: (edits) =>
      edits.some((edit) => edit.do === "clean") ? lines.clean() : rewrite(lines, items, edits),
  };
}

/** Types that Codex logs but does not send. */
export const NOT_SENT: ReadonlySet<string> = new Set(["ghost_snapshot", "other"]);

function itemsOf({ elements, values }: RecordFile): readonly StoredItem[] {
  const items: StoredItem[] = [];
  for (const [line, value] of values.entries()) {
    const text = elements[line] ?? "";
    if (value?.["type"] === "compacted") {
      const history = sliceArray(
        sliceMember(sliceMember(text, "payload") ?? "", "replacement_history") ?? "",
      );
      if (history.length === 0) continue;
      items.length = 0;
      items.push(...history.map((item, at) => ({ line, at, text: item })));
    } else if (value?.["type"] === "response_item") {
      const payload = sliceMember(text, "payload") ?? "{}";
      if (!NOT_SENT.has(textMember(payload, "type") ?? "other")) items.push({ line, text: payload });
    }
  }
  return items;
}

function rewrite(file: RecordFile, items: readonly StoredItem[], edits: readonly Edit[]): string {
  const slots = editResponses(
    items.map((item, element) => ({ element, text: item.text })),
    edits,
  );
  const lines: (string | undefined)[] = [...file.elements];
  const kept = new Set(slots.map(({ element }) => element));
  const added = new Map<number, string[]>();
  // From the end, so that indexes inside a replacement history stay valid.
  for (const [element, { line, at }] of [...items.entries()].toReversed()) {
    if (kept.has(element)) continue;
    lines[line] =
      at === undefined
        ? undefined
        : atPath(lines[line] ?? "", ["payload", "replacement_history", at], () => undefined);
  }
  let before = -1;
  let insertedIn = 0;
  for (const slot of slots) {
    const stored = slot.element === undefined ? undefined : items[slot.element];
    if (stored === undefined) {
      const near = file.elements[Math.max(before, 0)] ?? "{}";
      added.set(before, [...(added.get(before) ?? []), newLine(slot, near)]);
      continue;
    }
    if (stored.text !== slot.text && stored.at === undefined)
      lines[stored.line] = withMember(lines[stored.line] ?? "{}", "payload", slot.text);
    else if (stored.text !== slot.text) {
      const at = keptBefore(items, kept, slot.element ?? 0, stored.line);
      lines[stored.line] = atPath(
        lines[stored.line] ?? "{}",
        ["payload", "replacement_history", at],
        () => slot.text,
      );
    }
    insertedIn += stored.line < before ? 1 : 0;
    before = stored.line;
  }
  if (insertedIn > 0) return moved(file, slots, items);
  return file.join([
    ...(added.get(-1) ?? []),
    ...lines.flatMap((line, index) => [...(line === undefined ? [] : [line]), ...(added.get(index) ?? [])]),
  ]);
}

function keptBefore(
  items: readonly StoredItem[],
  kept: ReadonlySet<number | undefined>,
  element: number,
  line: number,
): number {
  return items.filter((item, index) => item.line === line && index < element && kept.has(index)).length;
}

/** An item was moved: writes the item lines in the new order into the positions of the old ones. */
function moved(file: RecordFile, slots: readonly Slot[], items: readonly StoredItem[]): string {
  if (items.some(({ at }) => at !== undefined)) return file.join(file.elements);
  const itemLines = new Set(items.map(({ line }) => line));
  const queue = slots.map((slot) => {
    const old = file.elements[items[slot.element ?? -1]?.line ?? -1];
    return old === undefined
      ? newLine(slot, file.elements[0] ?? "{}")
      : withMember(old, "payload", slot.text);
  });
  const elements = file.elements.flatMap((line, index) =>
    itemLines.has(index) ? queue.splice(0, 1) : [line],
  );
  return file.join([...elements, ...queue]);
}

function newLine({ text }: Slot, near: string): string {
  const timestamp = sliceMember(near, "timestamp") ?? '""';
  return `{"timestamp":${timestamp},"type":"response_item","payload":${text}}`;
}
