/**
 * Changes JSON text member by member. Other members keep their exact text, so no payload is ever parsed and rewritten.
 */

import { type Member, sliceMember, sliceObject } from "./json-slices.ts";

export function objectText(members: readonly Member[]): string {
  return `{${members.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}

export function arrayText(elements: readonly string[]): string {
  return `[${elements.join(",")}]`;
}

export function withoutMember(text: string, key: string): string {
  const members = sliceObject(text);
  return members.some((member) => member.key === key)
    ? objectText(members.filter((member) => member.key !== key))
    : text;
}

/** Replaces the member, or adds it at the end. `value` is JSON text. */
export function withMember(text: string, key: string, value: string): string {
  const members = sliceObject(text);
  return objectText(
    members.some((member) => member.key === key)
      ? members.map((member) => (member.key === key ? { key, value } : member))
      : [...members, { key, value }],
  );
}

export function textMember(text: string, key: string): string | undefined {
  const value = sliceMember(text, key);
  return value?.startsWith('"') === true ? (JSON.parse(value) as string) : undefined;
}
