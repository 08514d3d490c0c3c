/**
 * The differences between two requests. Items are compared and returned as their exact text: parsing loses big
 * integers, and the text is what the provider's cache sees.
 */

import { sliceArray, sliceObject } from "../support/index.ts";

/** What one request adds to and removes from another. */
export interface RequestDiff {
  /** The number of the earlier request. */
  readonly from: number;
  /** The number of the later request. */
  readonly to: number;
  /** How many items at the beginning are the same. */
  readonly sameItems: number;
  /** The items that only the earlier request has, as JSON text. */
  readonly removed: readonly string[];
  /** The items that only the later request has, as JSON text. */
  readonly added: readonly string[];
  /** The names of the other fields that differ. */
  readonly changedFields: readonly string[];
}

interface Body {
  readonly request: number;
  readonly body: string;
}

/** The field that holds the conversation, by dialect. */
const ITEM_FIELDS: ReadonlySet<string> = new Set(["input", "messages"]);

/** Compares two requests: their items from the first difference on, and their other fields. */
export function diffRequests(before: Body, after: Body): RequestDiff {
  const [a, b] = [partsOf(before.body), partsOf(after.body)];
  const sameItems = commonPrefix(a.items, b.items);
  const names = new Set([...a.fields.keys(), ...b.fields.keys()]);
  return {
    from: before.request,
    to: after.request,
    sameItems,
    removed: a.items.slice(sameItems),
    added: b.items.slice(sameItems),
    changedFields: [...names].filter((name) => a.fields.get(name) !== b.fields.get(name)),
  };
}

function partsOf(body: string): {
  readonly items: readonly string[];
  readonly fields: ReadonlyMap<string, string>;
} {
  const fields = new Map<string, string>();
  let items: readonly string[] = [];
  for (const { key, value } of sliceObject(body)) {
    if (ITEM_FIELDS.has(key) && value.startsWith("[")) items = sliceArray(value);
    else fields.set(key, value);
  }
  return { items, fields };
}

function commonPrefix(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count += 1;
  return count;
}
