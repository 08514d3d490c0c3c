import { expect, test } from "vitest";

import { readTools } from "./tool-definition.ts";

const plain = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };

test("tools are sorted, and the same tool gives the same bytes in any order of members", () => {
  const one = readTools([
    { name: "b", description: "B", inputSchema: plain },
    {
      inputSchema: { required: ["q"], properties: { q: { type: "string" } }, type: "object" },
      name: "a",
      description: "A",
    },
  ]);
  const other = readTools([
    { name: "a", description: "A", inputSchema: plain },
    { description: "B", name: "b", inputSchema: plain },
  ]);
  const bytes = ({ tools }: typeof one): string =>
    JSON.stringify(tools.map(({ tool, description, parameters }) => [tool, description, parameters]));
  expect(one.tools.map(({ tool }) => tool)).toEqual(["a", "b"]);
  expect(bytes(one)).toBe(bytes(other));
});

test("a schema that no provider takes at the top is wrapped, and its definitions stay where references find them", () => {
  const { tools, problems } = readTools([
    {
      name: "either",
      inputSchema: { anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: { type: "object", properties: {} } } },
    },
    { name: "text", inputSchema: { type: "string" } },
  ]);
  expect(problems).toEqual([]);
  expect(tools[0]).toMatchObject({
    wrapped: true,
    parameters: {
      type: "object",
      properties: { input: { anyOf: [{ $ref: "#/$defs/a" }] } },
      $defs: { a: { type: "object" } },
    },
  });
  expect(tools[1]).toMatchObject({
    wrapped: true,
    parameters: { properties: { input: { type: "string" } } },
  });
});

test("a tool without arguments may have no schema, or an empty one", () => {
  const { tools } = readTools([
    { name: "a" },
    { name: "b", inputSchema: {} },
    { name: "c", inputSchema: { type: "object" } },
  ]);
  for (const { parameters, wrapped } of tools) {
    expect(parameters).toEqual({ type: "object", properties: {} });
    expect(wrapped).toBe(false);
  }
});

test.each([
  [
    "a reference to another document",
    { type: "object", properties: { a: { $ref: "https://example.com/x.json" } } },
  ],
  ["a reference to nothing", { type: "object", properties: { a: { $ref: "#/$defs/none" } } }],
  ["a malformed pattern", { type: "object", properties: { a: { type: "string", pattern: "(" } } }],
  ["a schema of more than 128 KiB", { type: "object", description: "x".repeat(200_000) }],
  ["a schema of 1,000 levels", nestedSchema(1000)],
])("%s leaves the tool out by name, and keeps the others", (_what, inputSchema) => {
  const { tools, problems } = readTools([
    { name: "odd", inputSchema },
    { name: "good", inputSchema: plain },
  ]);
  expect(tools.map(({ tool }) => tool)).toEqual(["good"]);
  expect(problems).toEqual([expect.stringMatching(/^"odd": its schema/)]);
});

test("tools without a name, listed twice or not asked for are left out", () => {
  const { tools, problems } = readTools(
    [{ name: "a" }, { name: "a" }, {}, "text", { name: "b" }, { name: "c" }],
    ["a", "b", "z"],
  );
  expect(tools.map(({ tool }) => tool)).toEqual(["a", "b"]);
  expect(problems).toEqual([
    '"a": the server lists it twice',
    "a tool without a name",
    "a tool without a name",
    '"z": the entry names it, but the server does not list it',
  ]);
});

test("ten thousand tools are cut to 512, and the problems are counted", () => {
  const { tools, problems } = readTools(Array.from({ length: 10_000 }, (_, n) => ({ name: `t${n}` })));
  expect(tools).toHaveLength(512);
  expect(problems).toHaveLength(6);
  expect(problems[5]).toBe("and 9483 more");
});

test("control and invisible characters in what a model reads are shown, not obeyed", () => {
  const { tools } = readTools([
    {
      name: "a",
      description: "see\u001B[2J\u202Ethis\u{E0041}",
      inputSchema: {
        type: "object",
        properties: { q: { type: "string", description: "\u0007bell", enum: ["\u0007"] } },
      },
    },
  ]);
  const [tool] = tools;
  expect(tool?.description).toBe(String.raw`see␛[2J\u{202E}this\u{E0041}`);
  // A value keeps its characters: the server compares it.
  expect(tool?.parameters).toMatchObject({
    properties: { q: { description: "␇bell", enum: ["\u0007"] } },
  });
});

function nestedSchema(levels: number): object {
  let schema: object = { type: "string" };
  for (let level = 0; level < levels; level += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
}
