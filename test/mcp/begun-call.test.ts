/** A call that its server has begun is never called "not executed", and what a connection asks or leaves is its own. */

import { expect, test, vi } from "vitest";

import type { Elicitation } from "../../src/base/events/index.ts";
import { StdioTransport } from "../../src/runtime/mcp/stdio-transport.ts";
import { type ToolContext, type ToolOutcome, withElicit } from "../../src/runtime/tools/index.ts";
import { gate } from "../contracts/session-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import { callTool, knownEras, source, stdio } from "./fixture.ts";
import { EFFECT, type HttpCall, httpServer, text } from "./http-server.ts";

const SSE = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };
const WHO = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};

const json = ({ response }: HttpCall, body: string): unknown => response.writeHead(200, JSON_TYPE).end(body);
const ask = (one: HttpCall): unknown =>
  json(one, one.answer({ resultType: "input_required", inputRequests: { who: WHO }, requestState: "s" }));

/** A person who gives this name, and what they were asked. */
function person(name: string, asked: string[] = []): Partial<ToolContext> {
  const base = { signal: new AbortController().signal, progress: () => undefined } as unknown as ToolContext;
  return withElicit(base, async ({ message }: Elicitation) => {
    asked.push(message);
    return { action: "accept", content: { name } };
  });
}

async function calledOnce(
  modern: boolean,
  call: (one: HttpCall, times: number) => unknown,
): Promise<ToolOutcome> {
  let times = 0;
  const server = await httpServer({ modern, tools: [EFFECT], call: (one) => call(one, (times += 1)) });
  const tools = source({ web: server }, modern ? {} : { eras: knownEras("legacy") });
  await tools.ready();
  return callTool(tools, "mcp__web__effect", { id: 1, phase: "none" }, person("Ada"));
}

test.each([-32_600, -32_602])("an error %i may come after the tool ran", async (code) => {
  const outcome = await calledOnce(false, (one) =>
    json(
      one,
      JSON.stringify({ jsonrpc: "2.0", id: one.id, error: { code, message: "no structured content" } }),
    ),
  );
  expect(outcome.status).toBe("error");
  expect(outcome.text).toContain("it may have done a part of it");
  expect(outcome.text).not.toContain("not executed");
});

test.each([
  ["is refused by HTTP", (one: HttpCall) => one.response.writeHead(404).end()],
  ["wants a login", (one: HttpCall) => one.response.writeHead(401).end()],
] as const)("a call that %s after a question has an unknown outcome", async (_how, refuse) => {
  const outcome = await calledOnce(true, (one, times) => (times === 1 ? ask(one) : refuse(one)));
  expect(outcome.status).toBe("outcome_unknown");
  expect(outcome.text).not.toContain("not executed");
});

test("a call that is refused after it reported progress has an unknown outcome", async () => {
  const outcome = await calledOnce(false, (one) => {
    const params = { progressToken: one.id, progress: 1 };
    const error = { code: -32_601, message: "no such step" };
    one.response.writeHead(200, SSE);
    for (const message of [
      { method: "notifications/progress", params },
      { id: one.id, error },
    ])
      one.response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
    one.response.end();
  });
  expect(outcome.status).toBe("outcome_unknown");
});

test.each([
  ["read", "outcome_unknown"],
  ["connect", "error"],
])("a host that cannot be reached while it does %s: the call is %s", async (syscall, status) => {
  const server = await httpServer({ modern: false, tools: [EFFECT], call: () => undefined });
  const tools = source(
    { web: server },
    {
      eras: knownEras("legacy"),
      fetch: async (url, init) => {
        if (!JSON.stringify(init?.body ?? "").includes("tools/call")) return fetch(url, init);
        const cause = Object.assign(new Error(`${syscall} EHOSTUNREACH`), { code: "EHOSTUNREACH", syscall });
        throw new TypeError("fetch failed", { cause });
      },
    },
  );
  await tools.ready();
  const outcome = await callTool(tools, "mcp__web__effect", { id: 1, phase: "none" });
  expect(outcome.status).toBe(status);
  expect(outcome.text.includes("not executed")).toBe(status === "error");
});

test.each(["http", "stdio"] as const)(
  "questions of calls that run at once go to the person of each call: %s",
  async (how) => {
    const held: HttpCall[] = [];
    const server = await httpServer({
      modern: true,
      tools: [{ ...EFFECT, name: "ask", inputSchema: { type: "object", properties: {} } }],
      call: async (one) => {
        if (one.params["inputResponses"] !== undefined)
          return json(one, one.answer(text(JSON.stringify(one.params["inputResponses"]))));
        held.push(one);
        return held.length === 2 ? held.toReversed().map(ask) : undefined;
      },
    });
    const tools = source({ web: how === "http" ? server : stdio("modern-server.mjs") });
    await tools.ready();
    const [ada, bob]: [string[], string[]] = [[], []];
    const outcomes = await Promise.all([
      callTool(tools, "mcp__web__ask", {}, person("Ada", ada)),
      callTool(tools, "mcp__web__ask", {}, person("Bob", bob)),
    ]);
    expect(outcomes.map((one) => /Ada|Bob/.exec(one.text)?.[0])).toEqual(["Ada", "Bob"]);
    expect([ada, bob]).toEqual([["Who?"], ["Who?"]]);
  },
);

test.each([
  [1, ["accept"]],
  [2, ["decline", "decline"]],
] as const)(
  "a server that does not say which call it asks for gets an answer only if one runs: %i",
  async (calls, said) => {
    const tools = source({ asking: stdio("asking-server.mjs", { calls }) }, { eras: knownEras("legacy") });
    await tools.ready();
    const outcomes = await Promise.all(
      Array.from({ length: calls }, () => callTool(tools, "mcp__asking__ask", {}, person("Ada"))),
    );
    expect(outcomes.map((one) => one.text)).toEqual(said);
  },
);

test("a connection that needs a login after all is closed", async () => {
  const closed = gate();
  const server = await httpServer({
    modern: false,
    tools: [EFFECT],
    call: ({ response }) => response.writeHead(401).end(),
    other: (request, response) => {
      if (request.method !== "GET") return response.writeHead(405).end();
      request.once("close", () => closed.open());
      return response.writeHead(200, SSE).flushHeaders();
    },
  });
  const tools = source({ web: server }, { eras: knownEras("legacy") });
  await tools.ready();
  const outcome = await callTool(tools, "mcp__web__effect", { id: 1, phase: "none" });
  expect(outcome.text).toContain("not executed. The user can log in");
  await closed.promise;
});

test("a process that is to be started after its connection was closed does not start", async () => {
  const transport = new StdioTransport({ command: process.execPath, args: ["-e", ""] }, process.cwd());
  await transport.close();
  await expect(transport.start()).rejects.toThrow("closed before it began");
  expect(transport.pid).toBeNull();
});

test("a tool whose headers break the rules is left out by name, and nothing of it reaches the terminal", async () => {
  const printed = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  afterTest(async () => printed.mockRestore());
  const bad = { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } };
  const name = "evil\u001b[2J";
  const server = await httpServer({
    modern: true,
    tools: [EFFECT, { ...EFFECT, name, inputSchema: bad }],
    call: () => undefined,
  });
  const tools = source({ web: server });
  await tools.ready();
  expect(tools.servers[0]).toMatchObject({
    toolNames: ["effect"],
    leftOut: [expect.stringContaining("its declarations of x-mcp-header break the rules")],
  });
  expect(printed).not.toHaveBeenCalled();
});
