import { expect, test } from "vitest";

import { headerProblem } from "./mirrored-headers.ts";

const named = (name: unknown, type: unknown = "string"): object => ({ type, "x-mcp-header": name });
const object = (properties: object): { readonly type: "object"; readonly properties: object } => ({
  type: "object",
  properties,
});

test.each([
  ["none", object({ a: { type: "string" } })],
  ["one", object({ a: named("Region") })],
  ["in an object of an object", object({ a: object({ b: named("Region") }) })],
  ["a property of that name", object({ "x-mcp-header": { type: "string" } })],
  ["in data", object({ a: { type: "object", default: { "x-mcp-header": 1 } } })],
])("a schema with such a declaration is taken: %s", (_what, schema) => {
  expect(headerProblem({ ...schema })).toBeUndefined();
});

test.each([
  ["at the top", { ...object({}), "x-mcp-header": "A" }],
  ["empty", object({ a: named("") })],
  ["no text", object({ a: named(1) })],
  ["no token", object({ a: named("a\u001b[31m b") })],
  ["of a number", object({ a: named("A", "number") })],
  ["of an object", object({ a: named("A", "object") })],
  ["of no type", object({ a: { "x-mcp-header": "A" } })],
  ["twice", object({ a: named("Region"), b: named("region") })],
  ["in items", object({ a: { type: "array", items: named("A") } })],
  ["in anyOf", object({ a: { anyOf: [named("A")] } })],
  ["in $defs", { ...object({}), $defs: { a: named("A") } }],
])("a schema with such a declaration is refused: %s", (_what, schema) => {
  expect(headerProblem({ ...schema })).toBe("its declarations of x-mcp-header break the rules");
});
