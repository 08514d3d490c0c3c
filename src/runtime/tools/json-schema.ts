/**
 * Validates against a JSON Schema (draft 2020-12), for tool input and structured output. A problem in the schema throws
 * when the validator is created. A problem in a value is reported; checking a value never throws, because values come
 * from a model.
 */

import { dereference, type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";

import {
  codedError,
  isObject,
  type JsonObject,
  messageOf,
  type ThroughlineError,
} from "../../base/support/index.ts";
import { type Issue, issuesToMessage } from "./issue-list.ts";

export type SchemaVerdict = { readonly ok: true } | { readonly ok: false; readonly message: string };

export function jsonSchemaValidator(schema: JsonObject): (value: unknown) => SchemaVerdict {
  const own = cloneJson(schema); // the library adds its own properties to the schema
  assertUsable(own);
  const quick = new Validator(own, "2020-12", true);
  const thorough = new Validator(own, "2020-12", false);
  return (value) => {
    try {
      const first = quick.validate(value);
      if (first.valid) return { ok: true };
      return { ok: false, message: issuesToMessage(toIssues(allErrors(thorough, value) ?? first.errors)) };
    } catch (error) {
      // Values that are not JSON (undefined, bigint) or too deep to walk end here.
      return { ok: false, message: `(input): cannot be checked against the schema: ${messageOf(error)}` };
    }
  };
}

/**
 * Returns a copy as JSON. Throws a coded error for cycles, bigints and anything else that cannot be sent to a provider.
 */
export function cloneJson(schema: JsonObject): JsonObject {
  try {
    const copy = JSON.parse(JSON.stringify(schema)) as unknown;
    if (isObject(copy)) return copy;
  } catch (error) {
    throw schemaInvalid(`is not JSON: ${messageOf(error)}`, error);
  }
  throw schemaInvalid("is not a JSON object");
}

function schemaInvalid(problem: string, cause?: unknown): ThroughlineError {
  return codedError("schema_invalid", `The JSON Schema ${problem}.`, cause);
}

/** Returns `undefined` if there are so many errors that the library overflows the stack while collecting them. */
function allErrors(validator: Validator, value: unknown): readonly OutputUnit[] | undefined {
  try {
    return validator.validate(value).errors;
  } catch {
    return undefined;
  }
}

/**
 * The library notices a dangling `$ref` or a malformed `pattern` only when a value reaches it, and ignores
 * `$dynamicRef`. A wrong schema would look right until a model hits it, so this checks for all three.
 */
function assertUsable(schema: JsonObject): void {
  let subschemas: Record<string, Schema | boolean>;
  try {
    subschemas = dereference(schema);
  } catch (error) {
    throw schemaInvalid(`cannot be read: ${messageOf(error)}`, error);
  }
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
