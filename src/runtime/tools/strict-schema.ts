/**
 * Whether a schema already satisfies OpenAI's strict mode. A wrong `true` makes every request fail; a wrong `false`
 * only loses the guarantee. So anything not known to be accepted is `false`. Schemas are never rewritten: making an
 * optional property nullable would change what the tool receives. Source: OpenAI "Structured Outputs, supported
 * schemas", with the older, smaller size limits that compatible hosts still use.
 */

import { arrayOf, isObject, type JsonObject, stringOf } from "../../base/support/index.ts";

const MAX_NESTING = 5;
const MAX_PROPERTIES = 100;
const MAX_ENUM_VALUES = 500;
const MAX_NAME_CHARACTERS = 15_000;

const ANNOTATIONS = ["description", "title"];
const KEYWORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  object: words("properties required additionalProperties"),
  array: words("items minItems maxItems"),
  string: words("enum const pattern format"),
  number: words("enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
  integer: words("enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
  boolean: words("enum const"),
  null: words("enum const"),
};
const FORMATS = words("date-time time date duration email hostname ipv4 ipv6 uuid");

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

interface Budget {
  properties: number;
  enumValues: number;
  characters: number;
}

export function isStrictSchema(schema: JsonObject): boolean {
  const { $defs: definitions = {}, ...root } = schema;
  if (root["type"] !== "object") return false;
  const budget: Budget = { properties: 0, enumValues: 0, characters: 0 };
  if (!isObject(definitions)) return false;
  const known = new Set(Object.keys(definitions));
  const all = [root, ...Object.values(definitions)];
  return all.every((each) => isStrict(each, known, budget, 1)) && withinLimits(budget);
}

function isStrict(schema: unknown, definitions: ReadonlySet<string>, budget: Budget, depth: number): boolean {
  if (!isObject(schema) || depth > MAX_NESTING) return false;
  if ("$ref" in schema) return isStrictReference(schema, definitions);
  if ("anyOf" in schema) {
    const branches = arrayOf(schema["anyOf"]);
    return (
      branches.length > 0 &&
      Object.keys(schema).every((key) => key === "anyOf" || ANNOTATIONS.includes(key)) &&
      branches.every((branch) => isStrict(branch, definitions, budget, depth))
    );
  }
  const types = Array.isArray(schema["type"]) ? (schema["type"] as unknown[]) : [schema["type"]];
  if (types.length === 0 || !hasOnlySupportedKeywords(schema, types)) return false;
  countEnum(schema, budget);
  if (types.includes("object") && !isStrictObject(schema, definitions, budget, depth)) return false;
  return !types.includes("array") || isStrict(schema["items"], definitions, budget, depth + 1);
}

function hasOnlySupportedKeywords(schema: JsonObject, types: readonly unknown[]): boolean {
  const allowed = new Set([...ANNOTATIONS, "type"]);
  for (const type of types) {
    const keywords = typeof type === "string" && Object.hasOwn(KEYWORDS, type) ? KEYWORDS[type] : undefined;
    if (keywords === undefined) return false;
    for (const keyword of keywords) allowed.add(keyword);
  }
  if (!Object.keys(schema).every((key) => allowed.has(key))) return false;
  if ("format" in schema && !FORMATS.has(stringOf(schema["format"]) ?? "")) return false;
  // The grammar compiler refuses look-around and back-references.
  return !("pattern" in schema) || !/\(\?[=!<]|\\[1-9k]/.test(stringOf(schema["pattern"]) ?? "");
}

function isStrictObject(
  schema: JsonObject,
  definitions: ReadonlySet<string>,
  budget: Budget,
  depth: number,
): boolean {
  const { properties, required } = schema;
  if (!isObject(properties) || !Array.isArray(required) || schema["additionalProperties"] !== false)
    return false;
  const names = Object.keys(properties);
  budget.properties += names.length;
  for (const name of names) budget.characters += name.length;
  return (
    required.length === names.length &&
    names.every((name) => required.includes(name)) &&
    Object.values(properties).every((property) => isStrict(property, definitions, budget, depth + 1))
  );
}

function isStrictReference(schema: JsonObject, definitions: ReadonlySet<string>): boolean {
  if (Object.keys(schema).length > 1) return false; // "$ref cannot have keywords"
  const target = stringOf(schema["$ref"]);
  return target === "#" || (target?.startsWith("#/$defs/") === true && definitions.has(target.slice(8)));
}

function countEnum(schema: JsonObject, budget: Budget): void {
  for (const value of [...arrayOf(schema["enum"]), schema["const"]]) {
    if (value === undefined) continue;
    budget.enumValues += 1;
    budget.characters += typeof value === "string" ? value.length : 0;
  }
}

function withinLimits(budget: Budget): boolean {
  return (
    budget.properties <= MAX_PROPERTIES &&
    budget.enumValues <= MAX_ENUM_VALUES &&
    budget.characters <= MAX_NAME_CHARACTERS
  );
}
