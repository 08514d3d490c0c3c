/**
 * Lint of a raw Responses history: an `input` array, or a whole request with one. Every numbered rule, with the place, the
 * error it would cause and what to do. Payloads are not decrypted and not needed.
 *
 * @module
 */

import { createRequestCheck, RESPONSES_RULES } from "../rules/index.ts";
import { isObject, sliceArray, sliceMember, ThroughlineError, tryParseJson } from "../support/index.ts";

export interface Finding {
  readonly rule: string;
  readonly title: string;
  /** Where: `input[3]`. */
  readonly place: string;
  /** What the API would answer. */
  readonly message: string;
  readonly todo: string;
  readonly evidence: string;
}

export interface CheckedInput {
  readonly items: number;
  readonly findings: readonly Finding[];
}

export function checkInput(text: string): CheckedInput {
  const items = sliceArray(inputOf(text));
  const check = createRequestCheck("openai-responses", {});
  for (const [index, item] of items.entries()) {
    if (!isObject(tryParseJson(item))) {
      throw new ThroughlineError({ code: "input_invalid", message: `input[${index}] is not an object` });
    }
    check.push(item);
  }
  return { items: items.length, findings: findingsOf(check.violations()) };
}

export function findingsOf(
  violations: readonly { readonly rule: string; readonly index: number; readonly message: string }[],
): readonly Finding[] {
  return violations.map(({ rule, index, message }) => {
    const { title = "", todo = "", evidence = "" } = RESPONSES_RULES.find(({ id }) => id === rule) ?? {};
    return { rule, title, place: `input[${index}]`, message, todo, evidence };
  });
}

function inputOf(text: string): string {
  const value = tryParseJson(text);
  if (Array.isArray(value)) return text;
  const input = isObject(value) ? sliceMember(text, "input") : undefined;
  if (input?.startsWith("[") === true) return input;
  if (input?.startsWith('"') === true) return "[]"; // a plain string has no history to be wrong
  throw new ThroughlineError({
    code: "input_invalid",
    message: "not a Responses history: give an array of input items, or a request with an `input` array",
  });
}
