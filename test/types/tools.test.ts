import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";

import {
  type Agent,
  agentTool,
  type AgentToolOptions,
  builtinTools,
  createAgent,
  emulator,
  type McpServerView,
  type McpTools,
  mcpTools,
  type Session,
  type Tool,
  tool,
  type ToolAccess,
  type ToolCallOf,
  toolCalls,
  type ToolContext,
  type ToolOptions,
  type Turn,
} from "../../src/index.ts";
import { compileOnly } from "./compile-only.ts";

const base = { name: "t", description: "A tool" } as const;

test("a zod schema types the input as its output: after defaults and transforms", () => {
  const made = tool({
    ...base,
    input: z.object({
      city: z.string(),
      days: z.number().default(1),
      when: z.string().transform((text) => text.length),
      note: z.string().optional(),
    }),
    run: (input, context) => {
      expectTypeOf(input).toEqualTypeOf<{
        city: string;
        days: number;
        when: number;
        note?: string | undefined;
      }>();
      expectTypeOf(context).toEqualTypeOf<ToolContext>();
    },
  });
  expectTypeOf(made).toEqualTypeOf<
    Tool<"t", { city: string; days: number; when: number; note?: string | undefined }>
  >();
  expectTypeOf(made).toExtend<Tool>();
});

test("a valibot schema types the input as its output", () => {
  compileOnly(() =>
    tool({
      ...base,
      input: v.object({ city: v.string(), days: v.optional(v.number(), 1) }),
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>();
      },
    }),
  );
});

test("a JSON Schema gives an untyped object", () => {
  tool({
    ...base,
    input: { type: "object", properties: { city: { type: "string" } } },
    run: (input) => {
      expectTypeOf(input["city"]).toBeUnknown();
      // @ts-expect-error the type of a member is not known
      const city: string = input["city"];
      return city;
    },
  });
});

test("`run` may be async and may return anything", () => {
  const input = z.object({});
  expectTypeOf<ToolOptions<typeof input>["run"]>().returns.toBeUnknown();
  tool({ ...base, input, run: async () => ({ a: 1 }) });
  tool({ ...base, input, run: () => undefined });
});

test("wrong options of a tool do not compile", () => {
  const input = z.object({ city: z.string() });
  compileOnly(() => {
    // @ts-expect-error "admin" is not an access
    tool({ ...base, input, access: "admin", run: () => 1 });
    // @ts-expect-error there is no option `timeout`
    tool({ ...base, input, timeout: 5, run: () => 1 });
    // @ts-expect-error a description is required
    tool({ name: "t", input, run: () => 1 });
    // @ts-expect-error the input has no `country`
    tool({ ...base, input, run: ({ country }) => country });
    // @ts-expect-error a number is not a schema
    tool({ ...base, input: 5, run: () => 1 });
  });
  expectTypeOf<ToolAccess>().toEqualTypeOf<"read" | "write" | "execute">();
});

test("builtinTools takes a folder and returns tools", () => {
  expectTypeOf(builtinTools).returns.toEqualTypeOf<readonly Tool[]>();
  expectTypeOf(builtinTools).parameter(0).toHaveProperty("cwd").toEqualTypeOf<string>();
  compileOnly(() => {
    // @ts-expect-error `cwd` is required
    builtinTools({});
    // @ts-expect-error there is no option `shell`
    builtinTools({ cwd: ".", shell: "bash" });
  });
});

test("mcpTools takes servers and resolves to what an agent takes among its tools", () => {
  expectTypeOf(mcpTools).returns.resolves.toEqualTypeOf<McpTools>();
  compileOnly(async () => {
    const mcp = await mcpTools({ servers: { files: { command: "npx", args: ["-y", "x"] } } });
    createAgent({ model: emulator(), tools: [mcp, ...mcp.tools] });
    expectTypeOf(mcp.servers).toEqualTypeOf<readonly McpServerView[]>();
    // @ts-expect-error servers are required
    await mcpTools({});
    // @ts-expect-error a server is a command or an address
    await mcpTools({ servers: { files: { args: [] } } });
    // @ts-expect-error only `mcpTools` makes one
    createAgent({ model: emulator(), tools: [{ tools: [], servers: [] }] });
  });
});

test("agentTool types the prompt by its input schema and returns a tool", () => {
  compileOnly(() => {
    const agent = createAgent({ model: emulator() });
    const made = agentTool({
      ...base,
      agent,
      input: z.object({ city: z.string() }),
      prompt: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ city: string }>();
        return input.city;
      },
      output: z.object({ people: z.number() }),
    });
    expectTypeOf(made).toEqualTypeOf<Tool>();
    expectTypeOf<AgentToolOptions["agent"]>().toEqualTypeOf<Agent | (() => Agent)>();
    // @ts-expect-error an agent is required
    agentTool({ ...base });
  });
});

test("calls are typed by their tool and discriminated by its name", () => {
  const weather = tool({
    ...base,
    name: "get_weather",
    input: z.object({ city: z.string() }),
    run: () => "",
  });
  const count = tool({ ...base, name: "count", input: z.object({ to: z.number() }), run: () => "" });
  const erased: Tool = weather;
  compileOnly(async (turn: Turn, session: Session) => {
    for await (const call of toolCalls(turn, [weather, count])) {
      expectTypeOf(call).toEqualTypeOf<ToolCallOf<typeof weather> | ToolCallOf<typeof count>>();
      if (call.name === "get_weather") expectTypeOf(call.input).toEqualTypeOf<{ city: string }>();
      else expectTypeOf(call.input.to).toEqualTypeOf<number>();
    }
    for await (const call of toolCalls(session.events(), [erased]))
      expectTypeOf(call).toEqualTypeOf<{
        readonly name: string;
        readonly callId: string;
        readonly input: unknown;
      }>();
  });
});
