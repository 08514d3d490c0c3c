/** Helpers that outline JSON text for the dialects' views, without parsing payloads. */

import { sliceObject, stringValue } from "../../base/support/index.ts";

/** The state of a text field. `other`: it is present but not a string. */
export type TextState = "present" | "blank" | "empty" | "null" | "absent" | "other";

/** Returns an object's members by name; of duplicate keys the last one counts, as in JSON.parse. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  return new Map(sliceObject(text).map((member) => [member.key, member.value]));
}

export function textOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : stringValue(value);
}

export function textState(value: string | undefined): TextState {
  if (value === undefined) return "absent";
  if (value === "null") return "null";
  if (!value.startsWith('"')) return "other";
  if (value === '""') return "empty";
  // Only short texts are inspected: payloads are long, and blank texts are not.
  return value.length < 4096 && textOf(value)?.trim() === "" ? "blank" : "present";
}
