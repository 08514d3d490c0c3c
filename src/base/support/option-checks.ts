/** The checks that options share. Each returns the rest of the sentence "use …" for a value that does not fit. */

import { didYouMean } from "./closest.ts";
import { isObject } from "./json-types.ts";
import type { OptionCheck } from "./options.ts";

/** For values that are checked elsewhere, with an error of their own. */
export const anything: OptionCheck = () => undefined;

export const aText: OptionCheck = (value) => (typeof value === "string" ? undefined : "a string");
export const aFlag: OptionCheck = (value) => (typeof value === "boolean" ? undefined : "true or false");
export const aFunction: OptionCheck = (value) => (typeof value === "function" ? undefined : "a function");
export const anObject: OptionCheck = (value) =>
  isObject(value) && !Array.isArray(value) ? undefined : "an object";

/** A position in a log. */
export const aSeq: OptionCheck = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : "the seq of an event, a whole number";

/** A position after which to start; -1 is the beginning. */
export const anAfter: OptionCheck = (value) =>
  Number.isSafeInteger(value) && Number(value) >= -1 ? undefined : "the seq of an event, or -1";

export const aSignal: OptionCheck = (value) => {
  if (isObject(value) && typeof value["aborted"] === "boolean" && "addEventListener" in value)
    return undefined;
  const controller = isObject(value) && typeof value["abort"] === "function";
  return controller ? "the controller's signal: controller.signal" : "an AbortSignal";
};

export const aClock: OptionCheck = (value) =>
  isObject(value) && ["now", "monotonic", "sleep"].every((name) => typeof value[name] === "function")
    ? undefined
    : "a clock with now, monotonic and sleep";

export function orNull(check: OptionCheck): OptionCheck {
  return (value, place) => (value === null ? undefined : check(value, place));
}

export function aChoice(...values: readonly string[]): OptionCheck {
  return (value) => (values.some((one) => one === value) ? undefined : choiceOf(values, value));
}

/** The words for a closed set of values, with the one that was probably meant. */
export function choiceOf(values: readonly string[], value: unknown): string {
  const meant = typeof value === "string" ? didYouMean(value, values) : "";
  return `${values.map((one) => JSON.stringify(one)).join(", ")}${meant}`;
}

/** A whole number. Infinity stands for no limit. */
export function aCount(least: number): OptionCheck {
  return (value) =>
    typeof value === "number" && (Number.isInteger(value) || value === Infinity) && value >= least
      ? undefined
      : `a whole number, ${least} or more`;
}

export function aNumber(least: number): OptionCheck {
  return (value) => (typeof value === "number" && value >= least ? undefined : `a number, ${least} or more`);
}

export const aPositive: OptionCheck = (value) =>
  typeof value === "number" && value > 0 ? undefined : "a number above 0";

export const aPort: OptionCheck = (value) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535
    ? undefined
    : "a port from 0 to 65535";

export function aList(check: OptionCheck, of: string): OptionCheck {
  return (value, place) => {
    if (!Array.isArray(value)) return `an array of ${of}`;
    for (const [index, one] of value.entries()) {
      const use = check(one, { ...place, path: `${place.path}[${index}]` });
      if (use !== undefined) return `an array of ${of}; entry ${index} must be ${use}`;
    }
    return undefined;
  };
}

export function aRecord(check: OptionCheck, of: string): OptionCheck {
  return (value, place) => {
    if (!isObject(value) || Array.isArray(value)) return `an object of ${of}`;
    for (const [name, one] of Object.entries(value)) {
      const use = check(one, { ...place, path: `${place.path}.${name}` });
      if (use !== undefined) return `an object of ${of}; "${name}" must be ${use}`;
    }
    return undefined;
  };
}
