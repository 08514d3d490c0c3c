/** Changes JSON text at a path, and finds members in it. */

import {
  arrayText,
  sliceArray,
  sliceMember,
  sliceObject,
  withMember,
  withoutMember,
} from "../../base/support/index.ts";

export { arrayText, objectText, textMember, withMember, withoutMember } from "../../base/support/index.ts";

/** Member names and indexes, from the outside in. */
export type Path = readonly (string | number)[];

/** Changes a nested value. `change` gets its text (`undefined` if there is none) and returns `undefined` to remove it. */
export function atPath(
  text: string,
  path: Path,
  change: (value: string | undefined) => string | undefined,
): string {
  const [step, ...rest] = path;
  if (step === undefined) return change(text) ?? text;
  if (typeof step === "number") {
    const elements = [...sliceArray(text)];
    const old = elements[step];
    const value = rest.length === 0 ? change(old) : old === undefined ? undefined : atPath(old, rest, change);
    if (value === undefined) elements.splice(step, 1);
    else elements[step] = value;
    return value === old ? text : arrayText(elements);
  }
  const old = sliceMember(text, step);
  if (old === undefined && rest.length > 0) return text;
  const value = rest.length === 0 ? change(old) : atPath(old ?? "", rest, change);
  if (value === old) return text;
  return value === undefined ? withoutMember(text, step) : withMember(text, step, value);
}

/** Replaces this text, and no other, with another one. For `atPath`. */
export function exchanged(from: string, to: string): (value: string | undefined) => string | undefined {
  return (value) =>
    value?.startsWith('"') === true && JSON.parse(value) === from ? JSON.stringify(to) : value;
}

/** The offset of a member's value in the text of its object. */
export function memberStart(text: string, key: string): number {
  let at = text.indexOf("{") + 1;
  let found = -1;
  for (const member of sliceObject(text)) {
    let quote = text.indexOf('"', text.indexOf('"', at) + 1);
    while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
    at = text.indexOf(":", quote) + 1;
    while (text.charCodeAt(at) <= 0x20) at += 1;
    if (member.key === key) found = at;
    at += member.value.length;
  }
  return found;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text[quote - 1 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}
