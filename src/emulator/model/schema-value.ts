/**
 * Builds a value that satisfies a JSON schema: arguments for tools the model has no recipe for, and structured answers.
 * Hints by property name make it sensible; the schema always wins over a hint.
 */

import {
  arrayOf,
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
} from "../../base/support/index.ts";

/** The likely value for a property of this name; `undefined` if there is none. */
export type Hint = (name: string) => string | undefined;

interface Spot {
  readonly root: JsonObject;
  readonly hint: Hint;
  readonly name: string;
  readonly depth: number;
}

const maxDepth = 12;

export function valueFor(schema: unknown, hint: Hint, name = "value"): unknown {
  return build(schema, { root: objectOf(schema), hint, name, depth: 0 });
}

function build(schema: unknown, spot: Spot): unknown {
  if (!isObject(schema)) return spot.hint(spot.name) ?? spot.name;
  const whole = merged(schema, spot);
  if ("const" in whole) return whole["const"];
  const choices = arrayOf(whole["enum"]);
  if (choices.length > 0) return choices.find((one) => one === spot.hint(spot.name)) ?? choices[0];
  const branches = [...arrayOf(whole["anyOf"]), ...arrayOf(whole["oneOf"])];
  // Strict schemas make optional properties nullable: with nothing to say, null is the honest value.
  if (spot.depth > 0 && spot.hint(spot.name) === undefined && takesNull(whole, branches)) return null;
  if (branches.length > 0) return build({ ...whole, anyOf: [], oneOf: [], ...preferred(branches) }, spot);
  switch (typeOf(whole)) {
    case "object":
      return objectFor(whole, spot);
    case "array":
      return arrayFor(whole, spot);
    case "integer":
    case "number":
      return numberFor(whole, spot);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return stringFor(whole, spot);
  }
}

/** References and allOf merged into one schema. A circular reference is left as it is. */
function merged(schema: JsonObject, spot: Spot): JsonObject {
  let whole: Record<string, unknown> = { ...schema };
  for (let hops = 0; hops < 8; hops += 1) {
    const reference = stringOf(whole["$ref"]);
    if (reference === undefined) break;
    const { $ref: _, ...rest } = whole;
    const target = follow(spot.root, reference);
    whole = { ...objectOf(target), ...rest };
  }
  for (const part of arrayOf(whole["allOf"])) {
    if (!isObject(part)) continue;
    const one = merged(part, spot);
    whole = {
      ...whole,
      ...one,
      properties: { ...objectOf(whole["properties"]), ...objectOf(one["properties"]) },
      required: [...arrayOf(whole["required"]), ...arrayOf(one["required"])],
    };
  }
  return whole;
}

function follow(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  let at: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    at = isObject(at) ? at[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return at;
}

/** The first branch that is not just null. */
function preferred(branches: readonly unknown[]): JsonObject {
  const found = branches.find((one) => isObject(one) && one["type"] !== "null");
  return objectOf(found ?? branches[0]);
}

function takesNull(schema: JsonObject, branches: readonly unknown[]): boolean {
  return (
    arrayOf(schema["type"]).includes("null") ||
    branches.some((one) => isObject(one) && one["type"] === "null")
  );
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return stringOf(type.find((one) => one !== "null")) ?? "null";
  if (isObject(schema["properties"])) return "object";
  return schema["items"] === undefined ? "string" : "array";
}

function objectFor(schema: JsonObject, spot: Spot): JsonObject {
  const properties = objectOf(schema["properties"]);
  const required = new Set(arrayOf(schema["required"]));
  const result: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    // Optional properties are omitted: an invented folder or limit would make a correct call fail.
    if (!required.has(name) || spot.depth >= maxDepth) continue;
    result[name] = build(property, { ...spot, name, depth: spot.depth + 1 });
  }
  for (const name of required) {
    if (typeof name === "string" && !(name in result)) result[name] = spot.hint(name) ?? name;
  }
  return result;
}

function arrayFor(schema: JsonObject, spot: Spot): readonly unknown[] {
  const inner = { ...spot, depth: spot.depth + 1 };
  const fixed = arrayOf(schema["prefixItems"]).map((one) => build(one, inner));
  const least = Math.max(numberOf(schema["minItems"]) ?? 1, fixed.length);
  const most = numberOf(schema["maxItems"]) ?? least;
  const items: unknown[] = [...fixed];
  while (
    items.length < Math.min(least, Math.max(most, least)) &&
    schema["items"] !== false &&
    items.length < 100
  ) {
    const item = build(schema["items"] ?? {}, inner);
    // For unique items, text gets a number.
    const taken = schema["uniqueItems"] === true && items.includes(item);
    items.push(
      taken && typeof item === "string" ? `${item} ${items.length + 1}` : taken ? items.length : item,
    );
  }
  return most === 0 ? [] : items;
}

function numberFor(schema: JsonObject, spot: Spot): number {
  const whole = typeOf(schema) === "integer";
  const step = numberOf(schema["multipleOf"]) ?? (whole ? 1 : 0);
  const above = numberOf(schema["exclusiveMinimum"]);
  const below = numberOf(schema["exclusiveMaximum"]);
  const least = numberOf(schema["minimum"]) ?? (above === undefined ? undefined : above + (step || 0.5));
  const most = numberOf(schema["maximum"]) ?? (below === undefined ? undefined : below - (step || 0.5));
  const hinted = Number(spot.hint(spot.name) ?? "");
  let value = Number.isFinite(hinted) && spot.hint(spot.name) !== undefined ? hinted : (least ?? 1);
  if (most !== undefined && value > most) value = least ?? most;
  if (least !== undefined && value < least) value = least;
  return step === 0 ? value : Math.ceil(value / step) * step;
}

const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T12:00:00Z",
  date: "2026-01-01",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
};

function stringFor(schema: JsonObject, spot: Spot): string {
  const format = formats[stringOf(schema["format"]) ?? ""];
  const pattern = stringOf(schema["pattern"]);
  let text = format ?? spot.hint(spot.name) ?? spot.name;
  if (pattern !== undefined && !matches(pattern, text)) text = textForPattern(pattern) ?? text;
  const least = numberOf(schema["minLength"]) ?? 0;
  const most = numberOf(schema["maxLength"]);
  if (text.length < least) text = text.padEnd(least, "x");
  return most !== undefined && text.length > most ? text.slice(0, most) : text;
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true; // a pattern this engine cannot parse is ignored
  }
}

/** Tries common patterns: digits, letters, codes. Anything more complex stays unsatisfied, and the tool reports it. */
function textForPattern(pattern: string): string | undefined {
  const tries = "a A 1 abc ABC 123 abc123 A1 AB ab 12 1234 12345 2026-01-01".split(" ");
  const lengths = [...pattern.matchAll(/\{(\d+)/g)].map((match) => Number(match[1]));
  for (const length of lengths) tries.push("1".repeat(length), "A".repeat(length), "a".repeat(length));
  return tries.find((text) => matches(pattern, text));
}
