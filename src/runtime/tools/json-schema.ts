/**
 * Validates against a JSON Schema (draft 2020-12), for tool input and structured output. A problem in the schema throws
 * when the validator is created. A problem in a value is reported; checking a value never throws, because values come
 * from a model.
 */

import { dereference, type OutputUnit, type Schema, validate } from "@cfworker/json-schema";

import { codedError, type JsonObject, messageOf, type ThroughlineError } from "../../base/support/index.ts";
import { type Issue, issuesToMessage } from "./issue-list.ts";

export type SchemaVerdict = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** The schema as the library reads it. Many tools are never called, so it is made with the first value. */
interface ReadSchema {
  readonly schema: JsonObject;
  readonly lookup: Subschemas;
}

type Subschemas = Record<string, Schema | boolean>;

export function jsonSchemaValidator(schema: JsonObject): (value: unknown) => SchemaVerdict {
  const text = jsonOf(schema);
  assertUsable(readSchema(text).lookup);
  let read: ReadSchema | undefined;
  return (value) => {
    try {
      read ??= readSchema(text);
      const first = verdictOf(read, value, "first error");
      if (first.valid) return { ok: true };
      return { ok: false, message: issuesToMessage(toIssues(allErrors(read, value) ?? first.errors)) };
    } catch (error) {
      // Values that are not JSON (undefined, bigint) or too deep to walk end here.
      return { ok: false, message: `(input): cannot be checked against the schema: ${messageOf(error)}` };
    }
  };
}

/** From a text: the library adds its own properties to a schema. */
function readSchema(text: string): ReadSchema {
  const schema = JSON.parse(text) as JsonObject;
  try {
    return { schema, lookup: dereference(schema) };
  } catch (error) {
    throw schemaInvalid(`cannot be read: ${messageOf(error)}`, error);
  }
}

function verdictOf(
  { schema, lookup }: ReadSchema,
  value: unknown,
  until: "first error" | "end",
): ReturnType<typeof validate> {
  return validate(value, schema, "2020-12", lookup, until === "first error");
}

/**
 * Returns a copy as JSON. Throws a coded error for cycles, bigints and anything else that cannot be sent to a provider.
 */
export function cloneJson(schema: JsonObject): JsonObject {
  return JSON.parse(jsonOf(schema)) as JsonObject;
}

function jsonOf(schema: JsonObject): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(schema) as string | undefined;
  } catch (error) {
    throw schemaInvalid(`is not JSON: ${messageOf(error)}`, error);
  }
  if (text?.startsWith("{") === true) return text;
  throw schemaInvalid("is not a JSON object");
}

function schemaInvalid(problem: string, cause?: unknown): ThroughlineError {
  return codedError("schema_invalid", `The JSON Schema ${problem}.`, cause);
}

/** Returns `undefined` if there are so many errors that the library overflows the stack while collecting them. */
function allErrors(read: ReadSchema, value: unknown): readonly OutputUnit[] | undefined {
  try {
    return verdictOf(read, value, "end").errors;
  } catch {
    return undefined;
  }
}

/**
 * The library notices a dangling `$ref` or a malformed `pattern` only when a value reaches it, and ignores
 * `$dynamicRef`. A wrong schema would look right until a model hits it, so this checks for all three.
 */
function assertUsable(subschemas: Subschemas): void {
  for (const subschema of Object.values(subschemas)) {
    if (typeof subschema === "boolean") continue;
    const { __absolute_ref__: target } = subschema;
    if (target !== undefined && subschemas[target] === undefined) {
      throw schemaInvalid(`refers to "${subschema.$ref}", which it does not contain`);
    }
    if ("$dynamicRef" in subschema) throw schemaInvalid("uses $dynamicRef, which is not supported");
    const patterns = [subschema.pattern, ...Object.keys(subschema.patternProperties ?? {})];
    for (const pattern of patterns) if (pattern !== undefined) assertPattern(pattern);
  }
}

function assertPattern(pattern: unknown): void {
  try {
    if (typeof pattern === "string") return void new RegExp(pattern, "u");
  } catch (error) {
    throw schemaInvalid(`has a malformed pattern: ${messageOf(error)}`, error);
  }
  throw schemaInvalid("has a pattern that is not a string");
}

/** Keywords that only report that something below them failed; the errors below say what. */
const WRAPPERS: ReadonlySet<string> = new Set(
  (
    "$ref additionalItems additionalProperties allOf dependentSchemas if items patternProperties prefixItems " +
    "properties unevaluatedItems unevaluatedProperties"
  ).split(" "),
);

function toIssues(errors: readonly OutputUnit[]): readonly Issue[] {
  const leaves = errors.filter((error) => !WRAPPERS.has(error.keyword));
  return (leaves.length > 0 ? leaves : errors).map((error) => ({
    path: pointerToPath(error.instanceLocation),
    problem: error.keyword === "false" ? "is not allowed here" : error.error,
  }));
}

function pointerToPath(pointer: string): readonly string[] {
  const segments = pointer.replace(/^#\/?/, "");
  if (segments === "") return [];
  return segments.split("/").map((segment) => decodeURI(segment).replaceAll("~1", "/").replaceAll("~0", "~"));
}
