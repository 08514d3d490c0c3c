/**
 * A server's schema without its regular expressions. Some expressions take for ever on some texts, and a server chooses its
 * own, so this process never runs them: the server checks its arguments itself.
 */

import { isObject, type JsonObject } from "../../base/support/index.ts";

/** Their members are values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

export function withoutPatterns(schema: JsonObject): JsonObject {
  return strip(schema) as JsonObject;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => strip(one));
  if (!isObject(value)) return value;
  // What a pattern would have allowed is then allowed altogether.
  const isOpen = isObject(value["patternProperties"]);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]): readonly [string, unknown][] => {
      if (name === "pattern" && typeof member === "string") return [];
      if (isOpen && OPENED.has(name)) return [];
      return [[name, VALUES.has(name) ? member : strip(member)]];
    }),
  );
}

const OPENED: ReadonlySet<string> = new Set([
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
]);
