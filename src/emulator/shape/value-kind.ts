/**
 * The kind of value a parameter accepts. The question is the same in every dialect; each reports a wrong kind in its
 * own form.
 */

import { assertNever, isObject } from "../../base/support/index.ts";

export type ValueKind = "string" | "boolean" | "integer" | "number" | "array" | "object" | "any";

export function isOfKind(value: unknown, kind: ValueKind): boolean {
  switch (kind) {
    case "any":
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "boolean":
    case "number":
      return typeof value === kind;
    default:
      return assertNever(kind, "kind of a value");
  }
}

/** A table from names, grouped by the kind of their values. Sorted by name, whatever the kind. */
export function kindTable(names: Partial<Record<ValueKind, string>>): ReadonlyMap<string, ValueKind> {
  const pairs = Object.entries(names).flatMap(([kind, list]) =>
    list.split(" ").map((name): [string, ValueKind] => [name, kind as ValueKind]),
  );
  return new Map(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
