import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { codeOf } from "../../base/support/index.ts";
import { createRegistry, type StandardSchema, type Tool, tool, type ToolContext } from "./index.ts";

const context: ToolContext = {
  signal: new AbortController().signal,
  callId: "call_1",
  idempotencyKey: "session/call_1",
  progress: () => {},
};

function plain(name: string): Tool {
  return tool({ name, description: "does it", input: { type: "object" }, run: () => "done" });
}

function codeOfThrown(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    return codeOf(error);
  }
  return undefined;
}

describe("a tool with a zod schema", () => {
  test("runs an asynchronous refinement once, and survives one that rejects", async () => {
    let runs = 0;
    const input = z.object({ city: z.string() }).refine(async () => {
      runs += 1;
      return Promise.reject(new Error("no gazetteer"));
    });
    const look = tool({ name: "look", description: "Look.", input, run: () => undefined });
    expect(await look.validate({ city: "Rome" })).toEqual({
      ok: false,
      message: expect.stringContaining("no gazetteer"),
    });
    expect(runs).toBe(1);
  });

  const weather = tool({
    name: "get_weather",
    description: "Weather of a city",
    input: z.object({ city: z.string(), days: z.number().int().default(1) }),
    access: "read",
    run: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>();
      return `${input.city} for ${input.days}`;
    },
  });

  test("is sent as the JSON Schema of its input, without $schema", () => {
    expect(weather.parameters).toMatchObject({ type: "object", required: ["city"] });
    expect(weather.parameters).not.toHaveProperty("$schema");
    expect(weather).toMatchObject({ access: "read", idempotent: false, strict: false });
    expect(weather.timeoutMs).toBeUndefined();
  });

  test("passes the parsed input to run", async () => {
    const verdict = await weather.validate({ city: "Rome" });
    expect(verdict).toEqual({ ok: true, value: { city: "Rome", days: 1 } });
    expect(verdict.ok && weather.run(verdict.value, context)).toBe("Rome for 1");
  });

  test("lists the path and problem of every issue", async () => {
    const verdict = await weather.validate({ days: 1.5 });
    expect(verdict.ok ? [] : verdict.message.split("\n").map((line) => line.split(":")[0])).toEqual([
      "city",
      "days",
    ]);
  });

  test("is strict only if its schema already is", () => {
    const input = z.strictObject({ city: z.string(), unit: z.enum(["C", "F"]).nullable() });
    expect(tool({ name: "a", description: "b", input, run: () => "" }).strict).toBe(true);
  });

  test("still answers if a refinement throws", async () => {
    const input = z.object({}).refine(() => {
      throw new Error("broken check");
    });
    const verdict = await tool({ name: "a", description: "b", input, run: () => "" }).validate({});
    expect(verdict).toMatchObject({ ok: false, message: expect.stringContaining("broken check") as string });
  });
});

describe("a tool with another Standard Schema", () => {
  test("cannot use plain valibot: the error says what to install", () => {
    const input = v.object({ city: v.string() });
    const make = (): Tool => tool({ name: "a", description: "b", input, run: () => "" });
    expect(codeOfThrown(make)).toBe("tool_invalid");
    expect(make).toThrow(/@valibot\/to-json-schema/);
  });

  test("works with valibot and a converter, and is typed", async () => {
    const schema = v.object({ city: v.string() });
    const input = {
      "~standard": { ...schema["~standard"], jsonSchema: { input: () => ({ type: "object" }) } },
    };
    const made = tool({
      name: "a",
      description: "b",
      input,
      run: (given) => {
        expectTypeOf(given).toEqualTypeOf<{ city: string }>();
        return given.city;
      },
    });
    expect(await made.validate({ city: 1 })).toMatchObject({ ok: false });
    expect(await made.validate({ city: "Rome" })).toEqual({ ok: true, value: { city: "Rome" } });
  });

  test("accepts a callable schema, such as arktype's", () => {
    const callable = Object.assign(() => {}, {
      "~standard": {
        version: 1 as const,
        vendor: "arktype",
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => ({ type: "object", properties: { a: { type: "string" } } }) },
      },
    });
    const made = tool({ name: "a", description: "b", input: callable, run: () => "" });
    expect(made.parameters).toEqual({ type: "object", properties: { a: { type: "string" } } });
  });

  test("accepts whatever the specification's interface accepts", () => {
    expectTypeOf<StandardSchemaV1<string, number>>().toExtend<StandardSchema<string, number>>();
  });

  test("is refused on creation if JSON Schema cannot express the schema", () => {
    const input = z.object({ at: z.date() });
    expect(codeOfThrown(() => tool({ name: "a", description: "b", input, run: () => "" }))).toBe(
      "tool_invalid",
    );
  });
});

describe("a tool with a JSON Schema", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { path: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
    required: ["path"],
    additionalProperties: false,
  };
  const made = tool({
    name: "open",
    description: "Opens",
    input: schema,
    idempotent: true,
    timeoutMs: 5,
    run: (input) => {
      expectTypeOf(input).toEqualTypeOf<Readonly<Record<string, unknown>>>();
      return input["path"];
    },
  });

  test("defaults to the most careful access class and keeps the rest as given", () => {
    expect(made).toMatchObject({ access: "execute", idempotent: true, timeoutMs: 5, name: "open" });
    expect(made.parameters).toEqual({ ...schema, $schema: undefined });
  });

  test("validates and names every problem by its path", async () => {
    expect(await made.validate({ path: "a" })).toEqual({ ok: true, value: { path: "a" } });
    const verdict = await made.validate({ tags: ["x", 1], extra: true });
    expect(verdict.ok ? [] : verdict.message.split("\n")).toEqual([
      '(input): Instance does not have required property "path".',
      'tags[1]: Instance type "number" is invalid. Expected "string".',
      "extra: is not allowed here",
    ]);
  });

  test("is independent of later changes to the author's object, and never changes it", () => {
    const mutable = {
      type: "object",
      properties: { a: { $ref: "#/$defs/s" } },
      $defs: { s: { type: "string" } },
    };
    const before = structuredClone(mutable);
    const frozen = tool({ name: "a", description: "b", input: mutable, run: () => "" });
    expect(mutable).toEqual(before);
    mutable.$defs.s.type = "number";
    expect(frozen.parameters).toEqual(before);
    expect(Object.isFrozen(frozen.parameters["$defs"])).toBe(true);
  });

  test("gets the empty properties that providers require", () => {
    expect(plain("a").parameters).toEqual({ type: "object", properties: {} });
  });

  test.each([
    ["not an object", { type: "string" }],
    ["no type", {}],
    ["a union at the top", { type: "object", anyOf: [{ required: ["a"] }] }],
    ["a dangling reference", { type: "object", properties: { a: { $ref: "#/$defs/none" } } }],
    ["a malformed pattern", { type: "object", properties: { a: { type: "string", pattern: "(" } } }],
    ["a dynamic reference", { type: "object", properties: { a: { $dynamicRef: "#x" } } }],
    ["a value that JSON lacks", { type: "object", default: 1n }],
  ])("is refused if its schema has %s", (_, input) => {
    expect(codeOfThrown(() => tool({ name: "a", description: "b", input, run: () => "" }))).toBe(
      "tool_invalid",
    );
  });
});

describe("a tool must have", () => {
  test.each(["", "a b", "a.b", "ä", "x".repeat(65), "a\n"])("a valid name, not %j", (name) => {
    expect(codeOfThrown(() => plain(name))).toBe("tool_invalid");
  });

  test("a valid name: the longest is accepted", () => {
    expect(plain(`${"x".repeat(62)}_-`).name).toHaveLength(64);
  });

  test.each([
    { description: " " },
    { description: undefined },
    { run: undefined },
    { access: "admin" },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { input: undefined },
    { input: [] },
  ])("valid options, even from untyped code: not %j", (wrong) => {
    const options = { name: "a", description: "b", input: { type: "object" }, run: () => "", ...wrong };
    expect(codeOfThrown(() => tool(options as Parameters<typeof tool>[0]))).toBe("tool_invalid");
  });
});

describe("the registry", () => {
  test("finds tools by name and keeps their order", () => {
    const [b, a] = [plain("b"), plain("a")];
    const registry = createRegistry([b, a]);
    expect(registry.list).toEqual([b, a]);
    expect(registry.get("a")).toBe(a);
    expect(registry.get("toString")).toBeUndefined();
  });

  test("refuses two tools with one name", () => {
    expect(codeOfThrown(() => createRegistry([plain("a"), plain("a")]))).toBe("tool_invalid");
  });
});
