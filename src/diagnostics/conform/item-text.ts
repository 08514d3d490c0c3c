/**
 * Items as the exact text they arrived in. Every field is sent back unchanged. A deliberate break changes one thing and
 * nothing else.
 */

import { sliceMember, sliceObject, stringOf, tryParseJson } from "../../base/support/index.ts";

/** The fields of each type that are sent back, as the product itself does (S03, S04, T14). */
const SENT: Readonly<Record<string, readonly string[]>> = {
  message: ["id", "type", "role", "status", "content", "phase"],
  reasoning: ["id", "type", "summary", "encrypted_content"],
  function_call: ["id", "type", "status", "arguments", "call_id", "name"],
};

export function fieldOf(item: string, key: string): unknown {
  return tryParseJson(sliceMember(item, key) ?? "");
}

export function textField(item: string, key: string): string | undefined {
  return stringOf(fieldOf(item, key));
}

export const payloadOf = (item = ""): string | undefined => textField(item, "encrypted_content");

export const typeOf = (item: string): string => textField(item, "type") ?? "unknown";

/** The item as it is sent back to the model that made it. */
export function home(item: string): string {
  const fields = SENT[typeOf(item)];
  if (fields === undefined) return item;
  return textOf(sliceObject(item).filter(({ key, value }) => fields.includes(key) && value !== "null"));
}

export function without(item: string, ...keys: readonly string[]): string {
  return textOf(sliceObject(item).filter(({ key }) => !keys.includes(key)));
}

export function withField(item: string, key: string, value: unknown): string {
  const members = sliceObject(item);
  const changed = { key, value: JSON.stringify(value) };
  return textOf(
    members.some((member) => member.key === key)
      ? members.map((member) => (member.key === key ? changed : member))
      : [...members, changed],
  );
}

function textOf(members: readonly { readonly key: string; readonly value: string }[]): string {
  return `{${members.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}

export const userItem = (text: string): string => JSON.stringify({ role: "user", content: text });

export const outputItem = (callId: string, output: string): string =>
  JSON.stringify({ type: "function_call_output", call_id: callId, output });
