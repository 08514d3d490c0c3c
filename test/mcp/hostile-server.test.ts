/** Servers that misbehave. Whatever one does, the session goes on: docs/mcp.md lists these cases. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { startChild, temporaryFolder } from "../contracts/file-fixture.ts";
import { ofType, type ScriptStep, call, say, eventsOf } from "../contracts/session-fixture.ts";
import { callTool, knownEras, refusals, source, stdio, talk } from "./fixture.ts";
import { EFFECT, httpServer } from "./http-server.ts";
import type { McpChildPlan } from "./mcp-child.ts";

const HOSTILE = "hostile-server.mjs";
const LEGACY = { eras: knownEras("legacy"), monotonic: () => performance.now() };
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}]/u;

/** What the model reads of the result of each act, in one session that never stops. */
const ACTS: Readonly<Record<string, readonly [status: string, text: RegExp]>> = {
  "endless progress": ["ok", /^after the progress$/],
  junk: ["ok", /^after the junk$/],
  "wrong ids": ["ok", /^yours$/],
  twice: ["ok", /^first$/],
  "no object": ["outcome_unknown", /not sent again/],
  "odd parts": ["outcome_unknown", /its answer is not a message of the protocol\. It was not sent again/],
  "content is a text": ["outcome_unknown", /its answer is not a message of the protocol/],
  "many parts": ["ok", /part 0\n\npart 1/],
  misfit: ["ok", /^the words\n\n\[The tool ran, but its result does not fit the schema/],
  "no structure": ["ok", /^only words\n\n\[The tool ran, .*it has no structured content\]$/],
  deep: ["ok", /^deep/],
  proto: ["ok", /^plain/],
  "control characters": ["ok", /words/],
  error: ["error", /reported an error: .*failed/],
  "list changed": ["ok", /^told$/],
  "flood of changes": ["ok", /^flooded$/],
  "asks for sampling": ["ok", /^asked$/],
};

const STRUCTURED = {
  name: "act",
  description: "Acts.",
  inputSchema: { type: "object", properties: { act: { type: "string" } } },
  outputSchema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
};

describe("a session goes on when a server", () => {
  test.each(Object.entries(ACTS))("answers a call with: %s", async (act, [status, words]) => {
    const script: readonly ScriptStep[] = [
      { output: [call("mcp__bad__act", { act })] },
      { output: [call("mcp__bad__act", { act: "ok" })] },
      { output: [say("done")] },
    ];
    const structured = act === "misfit" || act === "no structure";
    const tools = source({ bad: stdio(HOSTILE, structured ? { tools: [STRUCTURED] } : {}) }, LEGACY);
    const { session, emulator } = await talk(script, [tools]);
    const events = await eventsOf(session.send("act"));
    const [first, second] = ofType(events, "tool_result");
    expect(first?.status, first?.text).toMatch(new RegExp(`^(?:${status})$`));
    expect(first?.text).toMatch(words);
    expect([second?.status, second?.text.slice(0, 4)]).toEqual(["ok", "fine"]);
    expect(ofType(events, "turn_end").map((one) => one.status)).toEqual(["completed"]);
    expect(refusals(emulator)).toEqual([]);
    for (const { text } of ofType(events, "tool_progress")) expect(text).not.toMatch(INVISIBLE);
    expect(ofType(events, "tool_progress").length).toBeLessThan(300);
  });
});

const object = (properties: object): object => ({ type: "object", properties });
const loop = { type: "object", properties: { a: { $ref: "#" } }, required: [] };
const deep = (levels: number): object =>
  JSON.parse(`${'{"type":"object","properties":{"a":'.repeat(levels)}{}${"}}".repeat(levels)}`) as object;

describe("of the tools that a server lists", () => {
  test("those that no API would take are left out by name, and the rest is declared", async () => {
    const odd = [
      { name: "good", description: "Good.", inputSchema: object({ a: { type: "string" } }) },
      { name: "mebibyte", inputSchema: object({ a: { description: "x".repeat(1 << 20) } }) },
      { name: "deep", inputSchema: deep(1000) },
      { name: "elsewhere", inputSchema: object({ a: { $ref: "https://example.com/schema.json" } }) },
      { name: "loop", inputSchema: loop },
      { name: "regex", inputSchema: object({ a: { type: "string", pattern: "^(a+)+$" } }) },
      { name: "no schema" },
      { name: "array", inputSchema: [1] },
      { name: "type list", inputSchema: { type: ["object", "null"] } },
      { name: "__proto__", inputSchema: object({}) },
      { name: "constructor", inputSchema: object({}) },
      { name: "../../etc/passwd", inputSchema: object({}) },
      { name: "\u001b[2Jclear", inputSchema: object({}) },
      { name: "🙂", inputSchema: object({}) },
      { name: "x".repeat(128), inputSchema: object({}) },
      { name: "x".repeat(1000), inputSchema: object({}) },
      { name: "good", description: "A second one.", inputSchema: object({}) },
      { name: "", inputSchema: object({}) },
      { name: 7 },
      null,
      "text",
      { name: "hidden", description: "shown\u001b[2J\u202e\u200b\u{e0041}hidden", inputSchema: object({}) },
    ];
    const raw = JSON.stringify(odd).replace(
      '"constructor","inputSchema":{',
      '"constructor","inputSchema":{"__proto__":{"x":1},',
    );
    const rawFile = join(temporaryFolder(), "tools.json");
    writeFileSync(rawFile, raw);
    const tools = source({ bad: stdio(HOSTILE, { rawFile }) }, LEGACY);
    const { session, emulator } = await talk([{ output: [say("hi")] }], [tools]);
    const events = await eventsOf(session.send("hello"));
    expect(refusals(emulator)).toEqual([]);
    const names = tools.tools.map(({ name }) => name);
    expect(names).toContain("mcp__bad__good");
    expect(names).toContain("mcp__bad____proto__");
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(names).size).toBe(names.length);
    for (const { description, parameters } of tools.tools) {
      expect(description).not.toMatch(INVISIBLE);
      expect(JSON.stringify(parameters).length).toBeLessThan(128 * 1024);
    }
    const [server] = tools.servers;
    for (const name of ["mebibyte", "deep", "elsewhere"]) expect(names).not.toContain(`mcp__bad__${name}`);
    expect(server?.leftOut.join("\n")).toMatch(/mebibyte.*\n.*deep.*\n.*elsewhere/);
    expect(ofType(events, "notice").map(({ code }) => code)).toEqual(["mcp_unavailable"]);
    expect(({} as { readonly x?: unknown }).x).toBeUndefined();
  });

  test("a pattern that takes for ever does not hold this process", async () => {
    const inputSchema = object({ a: { type: "string", pattern: "^(a+)+$" } });
    const tools = source({ bad: stdio(HOSTILE, { tools: [{ name: "regex", inputSchema }] }) }, LEGACY);
    await tools.ready();
    const [regex] = tools.tools;
    const before = performance.now();
    await regex?.validate({ a: `${"a".repeat(40)}!` });
    expect(performance.now() - before).toBeLessThan(5000);
  });

  test("10,000 are cut to what an API takes, and the notice counts them", async () => {
    const tools = source({ bad: stdio(HOSTILE, { manyTools: 10_000 }) }, LEGACY);
    const { session, emulator } = await talk([{ output: [say("hi")] }], [tools]);
    const events = await eventsOf(session.send("hello"));
    expect(refusals(emulator)).toEqual([]);
    const { length } = ofType(events, "settings").at(-1)?.settings.tools ?? [];
    expect(length).toBe(128);
    const said = ofType(events, "notice").map(({ code }) => code);
    expect(said.toSorted()).toEqual(["mcp_unavailable", "tools_left_out"]);
  });

  test("endless pages end", async () => {
    const tools = source({ bad: stdio(HOSTILE, { endlessPages: true }) }, LEGACY);
    const { session, emulator } = await talk([{ output: [say("hi")] }], [tools]);
    expect((await session.send("hello").result()).status).toBe("completed");
    expect(refusals(emulator)).toEqual([]);
    expect(tools.tools.length).toBeLessThanOrEqual(512);
  });

  test("instructions of a megabyte are shortened and inert", async () => {
    const tools = source({ bad: stdio(HOSTILE, { longInstructions: 1_000_000 }) }, LEGACY);
    const { session, emulator } = await talk([{ output: [say("hi")] }], [tools]);
    const events = await eventsOf(session.send("hello"));
    const [said] = ofType(events, "settings").at(-1)?.settings.serverInstructions ?? [];
    expect(said?.text.length).toBeLessThan(5000);
    expect(said?.text).not.toMatch(INVISIBLE);
    expect(refusals(emulator)).toEqual([]);
  });
});

const MEMORY = 300 * 1024 * 1024;

describe("an answer of a gigabyte", () => {
  test("on standard output ends the call with the limit named, in bounded memory; the next call works", async () => {
    const calls = ["gigabyte", "ok", "thirty megabytes"].map((act) => ({
      tool: "mcp__bad__act",
      input: { act },
    }));
    const [outcomes, memory] = await inChild({ servers: { bad: stdio(HOSTILE) }, calls, end: "close" });
    expect(outcomes.map(({ status }) => status)).toEqual(["outcome_unknown", "ok", "ok"]);
    expect(outcomes[0]?.text).toContain("more than 32 MiB");
    expect(memory).toBeLessThan(MEMORY);
  });

  test.each(["application/json", "text/event-stream"])("over HTTP as %s does the same", async (type) => {
    const server = await httpServer({
      modern: true,
      tools: [EFFECT],
      call: ({ input, response, answer }) => {
        if (input["phase"] === "none")
          return response.writeHead(200, { "content-type": "application/json" }).end(answer({ content: [] }));
        response.writeHead(200, { "content-type": type });
        const part = Buffer.alloc(1 << 20, "x");
        let sent = 0;
        const more = (): void => {
          while (sent < 1024 && !response.destroyed) {
            sent += 1;
            if (!response.write(part)) return;
          }
          response.end();
        };
        response.on("drain", more);
        response.write(type === "application/json" ? '{"a":"' : "data: ");
        return more();
      },
    });
    const calls = ["big", "none"].map((phase) => ({ tool: "mcp__web__effect", input: { id: 1, phase } }));
    const [outcomes, memory] = await inChild({ servers: { web: server }, calls, end: "close" });
    expect(outcomes.map(({ status }) => status)).toEqual(["outcome_unknown", "ok"]);
    expect(outcomes[0]?.text).toContain("more than 32 MiB");
    expect(memory).toBeLessThan(MEMORY);
  });
});

interface Said {
  readonly status: string;
  readonly text: string;
}

async function inChild(plan: McpChildPlan): Promise<readonly [readonly Said[], number]> {
  const child = startChild("mcp-child", [JSON.stringify(plan)]);
  const outcomes: Said[] = [];
  while (outcomes.length < (plan.calls ?? []).length)
    outcomes.push(JSON.parse(await child.line("outcome")) as Said);
  const memory = Number(await child.line("memory"));
  await child.exited;
  return [outcomes, memory];
}

test("a redirect to another origin is not followed while connecting", async () => {
  let visits = 0;
  const other = await httpServer({ modern: false, tools: [EFFECT], call: () => (visits += 1) });
  const server = await httpServer({ modern: false, tools: [], call: () => undefined });
  const { createServer } = await import("node:http");
  const redirect = createServer((_request, response) => {
    response.writeHead(307, { location: other.url }).end();
  });
  await new Promise<void>((done) => redirect.listen(0, "127.0.0.1", done));
  const { port } = redirect.address() as { readonly port: number };
  const tools = source({ good: server, odd: { url: `http://127.0.0.1:${port}/mcp` } });
  await tools.ready();
  await new Promise((done) => redirect.close(done));
  expect(tools.servers.map(({ state }) => state)).toEqual(["connected", "failed"]);
  expect(visits).toBe(0);
  expect(tools.tools).toEqual([]);
  await expect(callTool(tools, "mcp__odd__effect", {})).rejects.toThrow("no tool");
});
