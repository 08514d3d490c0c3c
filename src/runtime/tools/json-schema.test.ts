import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { codeOf } from "../../base/support/index.ts";
import { isStrictSchema, jsonSchemaValidator } from "./index.ts";

describe("jsonSchemaValidator", () => {
  test("never throws, whatever the value", () => {
    const check = jsonSchemaValidator({
      type: "object",
      properties: { a: { $ref: "#/$defs/tree" } },
      $defs: { tree: { type: "array", items: { $ref: "#/$defs/tree" } } },
      additionalProperties: { type: "string" },
    });
    let deep: unknown = [];
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    for (const value of [undefined, 1n, Symbol("s"), () => {}, { a: deep }, { "\ud800": 1 }]) {
      expect(check(value).ok).toBe(false);
    }
  });

  test("accepts every JSON object under an open schema, with the same verdict every time", () => {
    const check = jsonSchemaValidator({ type: "object" });
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const isPlainObject = typeof value === "object" && value !== null && !Array.isArray(value);
        expect(check(value).ok).toBe(isPlainObject);
        expect(check(value)).toEqual(check(value));
      }),
    );
  });

  test("bounds the message, even for a hundred thousand issues", () => {
    const check = jsonSchemaValidator({ type: "array", items: { type: "string" } });
    const verdict = check(Array.from({ length: 200_000 }, (_, index) => index));
    expect(verdict.ok ? 0 : verdict.message.length).toBeGreaterThan(0);
    expect(verdict.ok ? 0 : verdict.message.length).toBeLessThan(10_000);
  });

  test("decodes names with separators in the path", () => {
    const check = jsonSchemaValidator({ properties: { "a/b~ c": { type: "string" } } });
    const verdict = check({ "a/b~ c": 1 });
    expect(verdict.ok ? "" : verdict.message).toMatch(/^a\/b~ c: /);
  });

  test("names the branches of a union that refused", () => {
    const check = jsonSchemaValidator({ anyOf: [{ type: "string" }, { const: 7 }] });
    const verdict = check(8);
    expect(verdict.ok ? [] : verdict.message.split("\n")).toHaveLength(3);
  });

  test("refuses a schema that contains itself", () => {
    const schema: Record<string, unknown> = { type: "object" };
    schema["properties"] = { self: schema };
    let code: string | undefined;
    try {
      jsonSchemaValidator(schema);
    } catch (error) {
      code = codeOf(error);
    }
    expect(code).toBe("schema_invalid");
  });
});

function object(properties: Record<string, unknown>, rest: object = {}): Record<string, unknown> {
  const required = Object.keys(properties);
  return { type: "object", properties, required, additionalProperties: false, ...rest };
}

describe("isStrictSchema", () => {
  test.each([
    ["no properties", object({})],
    [
      "plain types",
      object({ a: { type: "string", description: "x" }, b: { type: ["integer", "null"], minimum: 0 } }),
    ],
    [
      "nested objects and arrays",
      object({ a: { type: "array", items: object({ b: { type: "boolean" } }) } }),
    ],
    ["a union", object({ a: { anyOf: [{ type: "string", enum: ["x"] }, { type: "null" }] } })],
    ["a reference", object({ a: { $ref: "#/$defs/n" } }, { $defs: { n: { type: "number" } } })],
    ["a recursion", object({ a: { anyOf: [{ $ref: "#" }, { type: "null" }] } })],
    ["a known format", object({ a: { type: "string", format: "date-time" } })],
  ])("holds for %s", (_, schema) => {
    expect(isStrictSchema(schema)).toBe(true);
  });

  test.each([
    ["an optional property", object({ a: { type: "string" } }, { required: [] })],
    ["a missing required list", { type: "object", properties: {}, additionalProperties: false }],
    ["open properties", { type: "object", properties: {}, required: [] }],
    ["open properties below", object({ a: { type: "object", properties: {}, required: [] } })],
    ["a default", object({ a: { type: "string", default: "x" } })],
    ["a length", object({ a: { type: "string", minLength: 1 } })],
    ["an unknown format", object({ a: { type: "string", format: "uri" } })],
    ["a look-ahead", object({ a: { type: "string", pattern: "a(?=b)" } })],
    ["no type", object({ a: {} })],
    ["a type named like a method", object({ a: { type: "toString" } })],
    ["allOf", object({ a: { allOf: [{ type: "string" }] } })],
    ["a reference with siblings", object({ a: { $ref: "#", description: "x" } })],
    ["an unknown reference", object({ a: { $ref: "#/$defs/none" } })],
    ["an untyped array", object({ a: { type: "array" } })],
    ["a union at the top", { anyOf: [object({})] }],
    [
      "too many properties",
      object(Object.fromEntries(Array.from({ length: 101 }, (__, n) => [n, { type: "null" }]))),
    ],
    ["deep nesting", object({ a: object({ b: object({ c: object({ d: object({ e: object({}) }) }) }) }) })],
  ])("does not hold with %s", (_, schema) => {
    expect(isStrictSchema(schema)).toBe(false);
  });
});
