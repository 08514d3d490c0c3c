/**
 * Arguments that a server of the modern era wants as HTTP headers too (`x-mcp-header` in a tool's schema). A client must
 * leave out a tool whose declarations break the rules. The client package would do that, but it prints the server's own
 * words to the terminal.
 */

import { isObject, type JsonObject, stringOf } from "../../base/support/index.ts";

const KEY = "x-mcp-header";
/** A token of RFC 9110. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Keywords whose members are schemas by name. */
const BY_NAME: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** Keywords whose values are data. */
const DATA: ReadonlySet<string> = new Set(["default", "examples", "enum", "const"]);

/** Why a tool with this schema cannot be called over HTTP, or undefined. The schema must not nest deeply. */
export function headerProblem(schema: JsonObject): string | undefined {
  const taken = new Set<string>();
  return isMirrored(schema, false, true, taken) ? undefined : `its declarations of ${KEY} break the rules`;
}

/** `inProperty`: the schema is that of a property. `reachable`: only names of properties lead to it. */
function isMirrored(schema: unknown, inProperty: boolean, reachable: boolean, taken: Set<string>): boolean {
  if (Array.isArray(schema)) return schema.every((one) => isMirrored(one, false, false, taken));
  if (!isObject(schema)) return true;
  if (Object.hasOwn(schema, KEY) && !(inProperty && reachable && isDeclared(schema, taken))) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (DATA.has(keyword)) return true;
    if (!BY_NAME.has(keyword)) return isMirrored(value, false, false, taken);
    const stays = reachable && keyword === "properties";
    return !isObject(value) || Object.values(value).every((one) => isMirrored(one, true, stays, taken));
  });
}

/** Names of headers that differ only in case are the same. */
function isDeclared(schema: JsonObject, taken: Set<string>): boolean {
  const name = stringOf(schema[KEY])?.toLowerCase() ?? "";
  if (!TOKEN.test(name) || !TYPES.has(schema["type"]) || taken.has(name)) return false;
  taken.add(name);
  return true;
}
