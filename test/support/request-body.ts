/**
 * A request body taken apart without losing its exact text.
 *
 * @module
 */

import { isObject, sliceArray, sliceMember, tryParseJson } from "../../src/base/support/index.ts";

/** The exact text of every input item. */
export function inputTexts(body: string): readonly string[] {
  return sliceArray(sliceMember(body, "input") ?? "[]");
}

export function memberOf(itemText: string, name: string): unknown {
  const text = sliceMember(itemText, name);
  return text === undefined ? undefined : tryParseJson(text);
}

/** All opaque payloads of a request, in order. */
export function ciphertextsOf(body: string): readonly string[] {
  return inputTexts(body).flatMap((item) => {
    const value = memberOf(item, "encrypted_content");
    return typeof value === "string" ? [value] : [];
  });
}

export function modelOf(body: string): string {
  return String(memberOf(body, "model"));
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value);
}
