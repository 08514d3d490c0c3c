/**
 * The list of tools is part of the start of every request. Orders, reconnects and restarts must not change a byte of it; a
 * real change takes effect with the next turn and is announced.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { anthropic, fileStore, memoryStore, openai, type SessionEvent } from "../../src/index.ts";
import { toolNames } from "../../src/runtime/mcp/tool-names.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { call, eventsOf, history, KEY, ofType, say, think } from "../contracts/session-fixture.ts";
import { runs } from "../support/runs.ts";
import { callTool, knownEras, refusals, source, startScripted, stdio, talk, until } from "./fixture.ts";
import { httpServer, text } from "./http-server.ts";

const HOSTILE = "hostile-server.mjs";

function shuffled<Value>(values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** The same value with the members of every object in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => reordered(one));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(shuffled(Object.entries(value)).map(([name, one]) => [name, reordered(one)]));
}

const TOOLS = ["zeta", "alpha", "Mid.dle", "al pha", "alpha2"].map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: {
    type: "object",
    properties: { b: { type: "string", description: "b" }, a: { type: "integer", minimum: 1 } },
    required: ["b", "a"],
  },
}));

/** Gives a random order of connecting. */
async function someTimeLater(url: string | URL, init?: RequestInit): Promise<Response> {
  for (let turns = Math.random() * 6; turns > 0; turns -= 1) await new Promise((done) => setImmediate(done));
  return fetch(url, init);
}

test("lists, members and connections in any order give one prefix, byte for byte", async () => {
  const hashes = new Set<string>();
  const starts = new Set<string>();
  const rounds = runs(200).numRuns;
  const emulator = await startScripted(Array.from({ length: rounds }, () => ({ output: [say("hi")] })));
  const relisted = new Map<string, () => void>();
  const servers = Object.fromEntries(
    await Promise.all(
      ["one", "two", "three"].map(async (name) => {
        const tools: object[] = [];
        const server = await httpServer({ modern: false, tools, call: () => undefined });
        relisted.set(name, () =>
          tools.splice(0, tools.length, ...shuffled(TOOLS).map((one) => reordered(one) as object)),
        );
        return [name, server] as const;
      }),
    ),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const relist of relisted.values()) relist();
    const tools = source(Object.fromEntries(shuffled(Object.entries(servers))), {
      eras: knownEras("legacy"),
      fetch: someTimeLater,
    });
    const bodies: string[] = [];
    const { session } = await talk(undefined, [tools], {
      emulator,
      store: memoryStore(),
      agent: {
        trace: (record) =>
          void (record.type === "request" && bodies.push(Buffer.concat(record.body).toString("utf8"))),
      },
    });
    for (const { prefixHash } of ofType(await eventsOf(session.send("hello")), "response_start"))
      hashes.add(prefixHash);
    for (const body of bodies) starts.add(body);
    await session.close();
    await tools.close();
  }
  expect(hashes.size).toBe(1);
  expect(starts.size).toBe(1);
  expect(refusals(emulator)).toEqual([]);
});

describe.each([
  [
    "emu-prefix-bound",
    (baseUrl: string) => openai("emu-prefix-bound", { apiKey: KEY, baseUrl, profile: "prefix-bound" }),
  ],
  [
    "emu-claude-bound",
    (baseUrl: string) =>
      anthropic("emu-claude-bound", { apiKey: KEY, baseUrl: baseUrl.replace(/\/v1$/, "") }),
  ],
] as const)("on %s", (_name, model) => {
  test("reconnects, restarts and a server that is down keep every thought readable", async () => {
    const folder = temporaryFolder();
    const rounds = 8;
    const script = Array.from({ length: rounds }, (_, at) => [
      { output: [think(`Step ${at}`), call("mcp__bad__act", { act: "ok" })] },
      { output: [think("End"), say("done")] },
    ]).flat();
    const emulator = await startScripted(script);
    const listFile = join(folder, "tools.json");
    writeFileSync(listFile, JSON.stringify([ACT, OTHER]));
    const store = fileStore(join(folder, "store"));
    for (let round = 0; round < rounds; round += 1) {
      const isDown = round % 3 === 2;
      const server = isDown ? { command: "/no/such/program" } : stdio(HOSTILE, { listFile });
      const tools = source({ bad: server }, { eras: knownEras("legacy") });
      const { session } = await talk(undefined, [tools], { emulator, model, store });
      if (round % 3 === 1) await tools.reconnect("bad");
      const events = await eventsOf(session.send(`round ${round}`));
      const [result] = ofType(events, "tool_result");
      expect(result?.status).toBe(isDown ? "error" : "ok");
      if (isDown) expect(result?.text).toContain("there is no such program: /no/such/program; not executed");
      expect(ofType(events, "notice").map(({ code }) => code)).toEqual(isDown ? ["mcp_unavailable"] : []);
      if (round > 0) expect(ofType(events, "settings")).toEqual([]);
      writeFileSync(listFile, JSON.stringify([OTHER, ACT].map((one) => reordered(one))));
      await session.close();
      await tools.close();
    }
    expect(refusals(emulator)).toEqual([]);
    const { requests, totals } = emulator.report();
    expect(requests.flatMap(({ dropped, missing }) => [...dropped, ...missing])).toEqual([]);
    expect(totals.recall).toBe(1);
    expect(requests.at(-1)?.sent).toHaveLength(script.length - 1);
  });

  test("a changed list takes effect with the next turn and says what it costs; the same list says nothing", async () => {
    const folder = temporaryFolder();
    const listFile = join(folder, "tools.json");
    const list = (tools: readonly object[]): void => writeFileSync(listFile, JSON.stringify(tools));
    list([ACT, OTHER]);
    const script = [
      { output: [think("One"), call("mcp__bad__act", { act: "list changed" })] },
      { output: [think("Two"), say("done")] },
      { output: [think("Three"), say("done")] },
      { output: [think("Four"), say("done")] },
    ];
    const plan = { listFile, heard: join(folder, "heard.txt"), instructions: "Be kind." };
    const tools = source({ bad: stdio(HOSTILE, plan) }, { eras: knownEras("legacy") });
    const { session } = await talk(script, [tools], { model });
    await tools.ready();
    list([
      { ...ACT, description: "Acts otherwise." },
      { ...OTHER, name: "new" },
    ]);
    const first = await eventsOf(session.send("one"));
    expect(ofType(first, "settings")).toHaveLength(1);
    await until(() => tools.tools.some(({ name }) => name === "mcp__bad__new"));
    const second = await eventsOf(session.send("two"));
    expect(noticesOf(second)).toEqual([
      "tools_changed: the tools of MCP servers changed: added mcp__bad__new; removed mcp__bad__other; changed mcp__bad__act. 2 earlier thoughts will not be read: this model binds them to the list of tools",
    ]);
    expect(ofType(second, "settings")).toHaveLength(1);
    await callTool(tools, "mcp__bad__act", { act: "list changed" });
    await tools.reconnect("bad");
    const third = await eventsOf(session.send("three"));
    expect(noticesOf(third)).toEqual([]);
    expect(ofType(third, "settings")).toEqual([]);
    const said = ofType(await history(session), "settings").map(
      ({ settings }) => settings.serverInstructions,
    );
    expect(said).toEqual([[{ server: "bad", text: "Be kind." }], [{ server: "bad", text: "Be kind." }]]);
  });
});

const ACT = {
  name: "act",
  description: "Acts.",
  inputSchema: { type: "object", properties: { act: { type: "string" } } },
};
const OTHER = { name: "other", description: "Another.", inputSchema: { type: "object", properties: {} } };

function noticesOf(events: readonly SessionEvent[]): readonly string[] {
  return ofType(events, "notice").map(({ code, message }) => `${code}: ${message}`);
}

test("instructions that a server changes stay as the session has declared them", async () => {
  let instructions = "First.";
  const server = await httpServer({
    modern: false,
    tools: [ACT],
    handshake: {
      get instructions() {
        return instructions;
      },
    },
    call: ({ response, answer }) =>
      response.writeHead(200, { "content-type": "application/json" }).end(answer(text("ok"))),
  });
  const tools = source({ web: server }, { eras: knownEras("legacy") });
  const { session } = await talk([{ output: [say("a")] }, { output: [say("b")] }], [tools]);
  await session.send("one").result();
  instructions = "Second.";
  await tools.reconnect("web");
  expect(ofType(await eventsOf(session.send("two")), "settings")).toEqual([]);
});

test("300 names of 1 to 128 characters from 5 servers are valid, unique and the same in every order", () => {
  const letters = ["a", "Z", "_", "-", ".", "/", " ", "é", "🙂", "\u001b", "0", "__"];
  const servers = ["one", "two words", "a__b", "x".repeat(64), "Ünï"];
  const pairs = servers.map((server, which): readonly [string, readonly string[]] => [
    server,
    Array.from({ length: 60 }, (_, at) => {
      const length = 1 + ((at * 37 + which * 11) % 128);
      const name = Array.from(
        { length },
        (_one, place) => letters[(at * 7 + place * (which + 3)) % letters.length],
      );
      return name.join("").slice(0, length - 1) + String.fromCodePoint(0x61 + (at % 26));
    }),
  ]);
  const named = new Map<string, string>();
  for (const [server, tools] of pairs) {
    const unique = [...new Set(tools)];
    const names = toolNames(server, unique);
    for (const [index, name] of names.entries()) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      const key = `${server}\0${unique[index]}`;
      expect(named.get(name) ?? key).toBe(key);
      named.set(name, key);
    }
    const mixed = shuffled(unique);
    const again = toolNames(server, mixed);
    expect(Object.fromEntries(mixed.map((tool, index) => [tool, again[index]]))).toEqual(
      Object.fromEntries(unique.map((tool, index) => [tool, names[index]])),
    );
  }
});
