/** The Responses API's errors for values of the wrong shape; chat completions uses the same messages. */

import type { ApiRefusal } from "../../api-refusal.ts";
import { ensure, type Row, shapeRows, type ShapeWords } from "../../shape/shape-rows.ts";
import {
  arrayTooLong,
  emptyString,
  invalidType,
  invalidValue,
  missingParameter,
  stringTooLong,
  unknownParameter,
} from "./refusals.ts";

const kindWords: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "a boolean",
  integer: "an integer",
  number: "a decimal",
  array: "an array",
  object: "an object",
};

export const responsesWords: ShapeWords<ApiRefusal> = {
  at: (path, key) => (typeof key === "number" ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`),
  missing: (path, rule = "X-missing") => missingParameter(rule, path),
  unknown: (path, rule = "X-unknown") => unknownParameter(rule, path),
  kind: (path, value, expected, rule = "X-type") => ({
    ...invalidType(path, kindWords[expected] ?? expected, value),
    rule,
  }),
  value: (path, value, allowed, rule = "X-value") => invalidValue(rule, path, String(value), allowed),
};

export const responsesRows = shapeRows(responsesWords);

export const notEmpty = (rule: string): Row<ApiRefusal> =>
  ensure(
    (text) => text !== "",
    (path) => emptyString(rule, path),
  );

export const noLongerThan = (max: number, rule: string): Row<ApiRefusal> =>
  ensure<ApiRefusal, string | readonly unknown[]>(
    ({ length }) => length <= max,
    (path, value) =>
      typeof value === "string"
        ? stringTooLong(rule, path, value.length, max)
        : arrayTooLong(rule, path, value.length, max),
  );
