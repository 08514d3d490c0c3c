/**
 * Makes the events of two runs comparable: numbers ids by first appearance, and drops times and provider-made bytes.
 */

import type { SessionEvent } from "../../src/index.ts";

const IDS: ReadonlySet<string> = new Set(["turn", "response", "callId", "requestId", "itemId"]);
const LEFT_OUT: ReadonlySet<string> = new Set([
  "id",
  "at",
  "startedAt",
  "durationMs",
  "item",
  "bodyHash",
  "prefixHash",
  "idempotencyKey",
  "providerResponseId",
  "origin",
  "settings",
  "session",
  "root",
  "parent",
  "delayMs",
]);

export function comparable(events: readonly unknown[]): readonly unknown[] {
  const names = new Map<string, string>();
  const nameOf = (key: string, id: string): string => {
    const name = names.get(`${key} ${id}`) ?? `${key} ${names.size + 1}`;
    names.set(`${key} ${id}`, name);
    return name;
  };
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !LEFT_OUT.has(key))
        .map(([key, one]) => [key, IDS.has(key) && typeof one === "string" ? nameOf(key, one) : plain(one)]),
    );
  };
  return events.map(plain);
}

/** Joins the deltas of each item, since where they were cut is a matter of timing. */
export function spoken(events: readonly SessionEvent[]): readonly string[] {
  const items = new Map<string, string>();
  for (const event of events) {
    if (!("delta" in event)) continue;
    const key = `${event.type} ${event.response}/${event.outputIndex}${"part" in event ? `/${event.part}` : ""}`;
    items.set(key, (items.get(key) ?? "") + event.delta);
  }
  return [...items.values()];
}
