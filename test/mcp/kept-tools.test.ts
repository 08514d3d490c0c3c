/**
 * What a session has declared is kept where nothing changed: by a turn that a crash interrupted, after a summary, in a new
 * process, and with several sources of tools.
 */

import type { ServerResponse } from "node:http";

import { expect, test, vi } from "vitest";

import type { Settings } from "../../src/base/events/index.ts";
import { memoryStore, type Session, type SessionEvent, type Store } from "../../src/index.ts";
import type { AppendDraft } from "../../src/runtime/log/index.ts";
import { call, eventsOf, gate, history, ofType, say } from "../contracts/session-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import { knownEras, source, talk, until } from "./fixture.ts";
import { httpServer, type HttpServerOptions, text } from "./http-server.ts";

const ACT = { name: "act", description: "Acts.", inputSchema: { type: "object", properties: {} } };

function web(more: Partial<HttpServerOptions> = {}): ReturnType<typeof httpServer> {
  return httpServer({
    modern: false,
    tools: [ACT],
    call: ({ response, answer }) =>
      response.writeHead(200, { "content-type": "application/json" }).end(answer(text("ok"))),
    ...more,
  });
}

const legacy = { eras: knownEras("legacy") };
const DEBOUNCE_MS = 300;
const AWAY = { command: "/no/such/program" };

/** The log as a crash right after this event would leave it. */
async function cutAfter(session: Session, isLast: (event: SessionEvent) => boolean): Promise<Store> {
  const events = await history(session);
  const store = memoryStore();
  const log = await store.open("s1", { mode: "write" });
  await log.append(events.slice(0, events.findIndex(isLast) + 1) as unknown as readonly AppendDraft[]);
  await log.close();
  return store;
}

async function settingsIn(session: Session): Promise<readonly Settings[]> {
  return ofType(await history(session), "settings").map(({ settings }) => settings);
}

const namesIn = ({ tools }: Settings): readonly string[] => tools.map(({ name }) => name);

test("a first turn that goes on after a crash has the instructions of its servers, so the next turn has no others", async () => {
  const servers = { web: await web({ handshake: { instructions: "Be kind." } }) };
  const { session, emulator } = await talk(
    [{ output: [say("a")] }, { output: [say("b")] }, { output: [say("c")] }],
    [source(servers, legacy)],
  );
  await session.send("one").result();
  const store = await cutAfter(session, ({ type }) => type === "user_message");
  const { session: again } = await talk(undefined, [source(servers, legacy)], { emulator, store });
  await again.resume().result();
  await again.send("two").result();
  expect((await settingsIn(again)).map(({ serverInstructions }) => serverInstructions)).toEqual([
    [{ server: "web", text: "Be kind." }],
  ]);
});

test("a server that was away when a turn was interrupted joins at the next turn, not in the resumed one", async () => {
  const late = await web();
  const { session, emulator } = await talk(
    [
      { output: [call("mcp__web__act")] },
      { output: [say("a")] },
      { output: [say("b")] },
      { output: [say("c")] },
    ],
    [source({ late: AWAY, web: await web() }, legacy)],
  );
  await session.send("one").result();
  const store = await cutAfter(session, ({ type }) => type === "tool_result");
  const tools = source({ late, web: await web() }, legacy);
  const { session: again } = await talk(undefined, [tools], { emulator, store });
  await tools.ready();
  expect(ofType(await eventsOf(again.resume()), "settings")).toEqual([]);
  await again.send("two").result();
  expect((await settingsIn(again)).map(namesIn)).toEqual([
    ["mcp__web__act"],
    ["mcp__late__act", "mcp__web__act"],
  ]);
});

test("what a server begins to say of itself later is not sent", async () => {
  const handshake: { instructions?: string } = {};
  const tools = source({ web: await web({ handshake }) }, legacy);
  const { session } = await talk([{ output: [say("a")] }, { output: [say("b")] }], [tools]);
  await session.send("one").result();
  handshake.instructions = "Now listen.";
  await tools.reconnect("web");
  expect(ofType(await eventsOf(session.send("two")), "settings")).toEqual([]);
});

test("after a summary of everything, the tools of a server that is away stay declared", async () => {
  const store = memoryStore();
  const { session, emulator } = await talk(
    [{ output: [say("a")] }, { output: [say("A summary.")] }, { output: [say("b")] }],
    [source({ web: await web({ handshake: { instructions: "Be kind." } }) }, legacy)],
    { store },
  );
  await session.send("one").result();
  await session.compact({ keepTurns: 0 });
  await session.close();
  const { session: again } = await talk(undefined, [source({ web: AWAY }, legacy)], { emulator, store });
  await again.send("two").result();
  const last = (await settingsIn(again)).at(-1);
  expect(last && namesIn(last)).toEqual(["mcp__web__act"]);
  expect(last?.serverInstructions).toEqual([{ server: "web", text: "Be kind." }]);
});

test("a new process changes a list with a turn and its notice, whatever was asked of the session before", async () => {
  const tools: object[] = [ACT];
  const server = await web({ tools });
  const store = memoryStore();
  const { session, emulator } = await talk(
    [{ output: [say("a")] }, { output: [say("{}")] }],
    [source({ web: server }, legacy)],
    { store },
  );
  await session.send("one").result();
  await session.close();
  tools.push({ ...ACT, name: "more" });
  const changed = source({ web: server }, legacy);
  await changed.ready();
  const { session: again } = await talk(undefined, [changed], { emulator, store });
  const output = { type: "object", properties: {}, additionalProperties: false } as const;
  const events = await eventsOf(again.send("two", { output }));
  expect(ofType(events, "notice").map(({ message }) => message)).toEqual([
    "the tools of MCP servers changed: added mcp__web__more",
  ]);
});

test("resources of one of two sources are read through it in every turn, and the order of tools stays", async () => {
  const first = source({ one: await web() }, legacy);
  const second = source(
    { two: await web({ handshake: { capabilities: { tools: {}, resources: {} } } }) },
    legacy,
  );
  const { session } = await talk(
    [
      { output: [say("a")] },
      { output: [call("mcp_read_resource", { server: "two", uri: "file:///a" })] },
      { output: [say("b")] },
    ],
    [first, second],
  );
  await session.send("one").result();
  const events = await eventsOf(session.send("two"));
  expect(ofType(events, "settings")).toEqual([]);
  expect(ofType(events, "notice")).toEqual([]);
  expect(ofType(events, "tool_result")[0]?.text).toContain('the MCP server "two"');
  expect((await settingsIn(session)).map(namesIn)).toEqual([
    ["mcp__one__act", "mcp__two__act", "mcp_list_resources", "mcp_read_resource"],
  ]);
});

test("a server that says that its list changed while it lists keeps all its tools", async () => {
  const later = setTimeout;
  let waits = 0;
  // The client package waits this long for further changes before it tells of one.
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation((work: () => void, ms?: number) =>
    later(() => {
      work();
      if (ms === DEBOUNCE_MS) waits += 1;
    }, ms),
  );
  afterTest(async () => timers.mockRestore());
  const lists: ReturnType<typeof gate<void>>[] = [];
  const names = Array.from({ length: 30 }, (_, at) => `tool${at}`);
  const stream = gate<ServerResponse>();
  const server = await web({
    tools: names.map((name) => ({ ...ACT, name })),
    handshake: { capabilities: { tools: { listChanged: true } } },
    other: (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      stream.open(response);
    },
  });
  const slowly = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    if (!JSON.stringify(init?.body ?? "").includes("tools/list")) return fetch(url, init);
    const held = gate();
    lists.push(held);
    if (lists.length > 1) await held.promise;
    return fetch(url, init);
  };
  const tools = source({ web: server }, { ...legacy, fetch: slowly });
  await tools.ready();
  const said = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n\n`;
  const tell = async (): Promise<void> => void (await stream.promise).write(said);
  await tell();
  await until(() => lists.length === 2);
  await tell();
  await until(() => waits === 2);
  const changes: number[] = [];
  tools.onChange(() => changes.push(tools.tools.length));
  for (const held of lists) held.open();
  await until(() => lists.length === 3);
  lists[2]?.open();
  await until(() => changes.length === 2);
  expect(changes).toEqual([30, 30]);
});
