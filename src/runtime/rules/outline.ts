/** Small looks at JSON text, for the views of the dialects: what a value is, without parsing payloads. */

import { sliceObject, stringValue } from "../../base/support/index.ts";

/** Whether a text field holds something. `other`: it is there and is no string. */
export type TextState = "present" | "blank" | "empty" | "null" | "absent" | "other";

/** The members of an object by name; with duplicate keys the last one counts, as in JSON.parse. */
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
  // Only a short head is looked at: payloads are long, and blank texts are not.
  return value.length < 4096 && textOf(value)?.trim() === "" ? "blank" : "present";
}
