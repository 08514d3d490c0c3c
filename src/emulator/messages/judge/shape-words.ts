/** The Messages API's errors for values of the wrong shape. */

import type { ApiRefusal } from "../../api-refusal.ts";
import { shapeRows } from "../../shape/shape-rows.ts";
import { extraInput, fieldRequired, unexpectedValue, wrongType } from "../refusals.ts";

const kindWords: Readonly<Record<string, string>> = {
  string: "a valid string",
  boolean: "a valid boolean",
  integer: "a valid integer",
  number: "a valid number",
  array: "a valid list",
  object: "a valid dictionary",
};

export const messagesRows = shapeRows<ApiRefusal>({
  at: (path, key) => (path === "" ? String(key) : `${path}.${key}`),
  missing: fieldRequired,
  unknown: extraInput,
  kind: (path, _value, expected) => wrongType(path, kindWords[expected] ?? expected),
  value: (path, _value, allowed) => unexpectedValue(path, allowed),
});
