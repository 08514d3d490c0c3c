/** How servers start, end and are started again, and that no process is left behind. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { createAgent, fileStore, openai } from "../../src/index.ts";
import { startChild, temporaryFolder } from "../contracts/file-fixture.ts";
import { call, eventsOf, history, KEY, ofType, say } from "../contracts/session-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import {
  callTool,
  counted,
  isAlive,
  knownEras,
  refusals,
  source,
  startScripted,
  stdio,
  talk,
  until,
} from "./fixture.ts";
import { EFFECT, httpServer } from "./http-server.ts";
import type { McpChildPlan } from "./mcp-child.ts";

const MORTAL = "mortal-server.mjs";
const HOSTILE = "hostile-server.mjs";
const LEGACY = knownEras("legacy");

test("a server that dies again and again within a minute has failed until a person connects it again", async () => {
  const server = counted();
  let now = 0;
  const tools = source({ mortal: stdio(MORTAL, server) }, { eras: LEGACY, monotonic: () => (now += 1) });
  await tools.ready();
  const die = async (id: number): Promise<string> => {
    const { status } = await callTool(tools, "mcp__mortal__effect", { id, phase: "after the effect" });
    await until(() => tools.servers[0]?.state !== "connected");
    return status;
  };
  const ends: string[] = [];
  for (let id = 1; id <= 4; id += 1) ends.push(await die(id));
  expect(ends).toEqual(Array(4).fill("outcome_unknown"));
  const refused = await callTool(tools, "mcp__mortal__effect", { id: 5, phase: "none" });
  expect(refused).toMatchObject({
    status: "error",
    text: 'the MCP server "mortal" cannot be reached: it ended again and again; not executed',
  });
  expect(tools.servers[0]?.state).toBe("failed");
  expect(server.pids()).toHaveLength(4);
  await tools.reconnect("mortal");
  expect(await callTool(tools, "mcp__mortal__effect", { id: 6, phase: "none" })).toMatchObject({
    status: "ok",
    text: "effect 6",
  });
  expect([1, 2, 3, 4, 5, 6].map((id) => server.executions(id))).toEqual([1, 1, 1, 1, 0, 1]);
});

describe("a call that is cancelled", () => {
  test("tells a server on standard input and leaves it running", async () => {
    const folder = temporaryFolder();
    const heard = join(folder, "heard.txt");
    const pids = join(folder, "pids.txt");
    const tools = source({ bad: stdio(HOSTILE, { heard, pids }) }, { eras: LEGACY });
    const { session } = await talk([{ output: [call("mcp__bad__act", { act: "wait" })] }], [tools]);
    const turn = session.send("wait");
    for await (const event of turn) {
      if (event.type !== "tool_start") continue;
      await until(() => readFileSync(heard, "utf8").includes("tools/call"));
      turn.cancel();
    }
    await until(() => readFileSync(heard, "utf8").includes("notifications/cancelled"));
    expect((await turn.result()).status).toBe("cancelled");
    expect(await callTool(tools, "mcp__bad__act", { act: "ok" })).toMatchObject({ status: "ok" });
    expect(readFileSync(pids, "utf8").split("\n")).toHaveLength(2);
  });

  test("closes the answer of a modern server at an address", async () => {
    let closed = false;
    let begun = false;
    const server = await httpServer({
      modern: true,
      tools: [EFFECT],
      call: ({ input, response, answer }) => {
        if (input["phase"] !== "wait")
          return response.writeHead(200, { "content-type": "application/json" }).end(answer({ content: [] }));
        begun = true;
        response.on("close", () => (closed = true));
        return response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      },
    });
    const tools = source({ web: server });
    await tools.ready();
    const stop = new AbortController();
    const running = callTool(
      tools,
      "mcp__web__effect",
      { id: 1, phase: "wait" },
      { signal: stop.signal },
    ).catch(() => "stopped");
    await until(() => begun);
    stop.abort();
    expect(await running).toBe("stopped");
    await until(() => closed);
    expect(await callTool(tools, "mcp__web__effect", { id: 2, phase: "none" })).toMatchObject({
      status: "ok",
    });
  });
});

/** The ids of all processes that a server in this folder reported: its own, and that of its child. */
function processes(folder: string): readonly number[] {
  return ["pids.txt", "grandchild.txt"].flatMap((name) =>
    existsSync(join(folder, name))
      ? readFileSync(join(folder, name), "utf8").trim().split("\n").map(Number)
      : [],
  );
}

function planIn(folder: string, end: McpChildPlan["end"]): string {
  const files = { pids: join(folder, "pids.txt"), grandchild: join(folder, "grandchild.txt") };
  return JSON.stringify({ servers: { bad: stdio(HOSTILE, files) }, end });
}

describe("no process is left", () => {
  test("after close, with what the server started", async () => {
    const folder = temporaryFolder();
    const child = startChild("mcp-child", [planIn(folder, "close")]);
    await child.exited;
    expect(processes(folder).length).toBeGreaterThanOrEqual(2);
    await until(() => processes(folder).every((pid) => !isAlive(pid)));
  });

  test("after the exit of this process, with what the server started", async () => {
    const folder = temporaryFolder();
    const child = startChild("mcp-child", [planIn(folder, "exit")]);
    await child.exited;
    expect(processes(folder).length).toBeGreaterThanOrEqual(2);
    await until(() => processes(folder).every((pid) => !isAlive(pid)));
  });

  test("after SIGKILL of this process, of a server that ends with its input", async () => {
    const folder = temporaryFolder();
    const pids = join(folder, "pids.txt");
    const plan: McpChildPlan = { servers: { bad: stdio(HOSTILE, { pids }) }, end: "stay" };
    const child = startChild("mcp-child", [JSON.stringify(plan)]);
    await child.line("memory");
    await child.kill();
    await until(() => processes(folder).every((pid) => !isAlive(pid)));
  });
});

test("a call whose process was killed has an unknown outcome after a resume, and does not run again", async () => {
  const server = counted();
  const folder = temporaryFolder();
  const script = [
    { output: [call("mcp__mortal__effect", { id: 1, phase: "while it waits" })] },
    { output: [say("done")] },
    { output: [call("mcp__mortal__effect", { id: 2, phase: "none" })] },
    { output: [say("done")] },
  ];
  const emulator = await startScripted(script);
  const servers = { mortal: stdio(MORTAL, server) };
  const session = { folder, id: "killed", baseUrl: emulator.baseUrl, prompt: "wait" };
  const plan: McpChildPlan = { servers, session, end: "stay" };
  const child = startChild("mcp-child", [JSON.stringify(plan)]);
  while ((JSON.parse(await child.line("event")) as { readonly type: string }).type !== "tool_progress");
  await child.kill();
  const model = openai("emu-reasoner", { apiKey: KEY, baseUrl: emulator.baseUrl });
  const agent = createAgent({ model, tools: [source(servers)], permissions: "auto" });
  const again = await agent.open({ id: "killed", store: fileStore(folder) });
  afterTest(() => again.close());
  await eventsOf(again.resume());
  expect(ofType(await history(again), "tool_result").map(({ status }) => status)).toEqual([
    "outcome_unknown",
  ]);
  expect(server.executions(1)).toBe(1);
  const next = await eventsOf(again.send("again"));
  expect(ofType(next, "tool_result").map(({ status }) => status)).toEqual(["ok"]);
  expect(refusals(emulator)).toEqual([]);
});

test("fifty servers, five of them broken: the first request has the tools of the others and names the broken", async () => {
  const good = Object.fromEntries(
    await Promise.all(
      Array.from({ length: 45 }, async (_, at): Promise<[string, Awaited<ReturnType<typeof httpServer>>]> => [
        `good${at}`,
        await httpServer({ modern: at % 2 === 0, tools: [EFFECT], call: () => undefined }),
      ]),
    ),
  );
  const broken = {
    missing: { command: "/no/such/program" },
    ends: { command: process.execPath, args: ["-e", "process.exit(3)"] },
    mute: { command: process.execPath, args: ["-e", "process.stdin.resume()"] },
    closed: { url: "http://127.0.0.1:9/mcp" },
    hangs: stdio(HOSTILE, { hang: "list" }),
  };
  const tools = source({ ...good, ...broken }, { monotonic: () => performance.now() });
  const { session, emulator } = await talk([{ output: [say("hi")] }], [tools]);
  const began = performance.now();
  let left = Number.NaN;
  const said: string[] = [];
  for await (const event of session.send("hello")) {
    if (event.type === "response_start") left = performance.now() - began;
    if (event.type === "notice") said.push(event.message);
  }
  expect(left).toBeLessThan(10_500);
  for (const name of Object.keys(broken))
    expect(said.filter((one) => one.startsWith(`MCP server ${name} `))).toHaveLength(1);
  expect(said).toHaveLength(5);
  const declared = ofType(await history(session), "settings").at(-1)?.settings.tools ?? [];
  expect(declared.map(({ mcp }) => mcp?.server ?? "").toSorted()).toEqual(Object.keys(good).toSorted());
  expect(refusals(emulator)).toEqual([]);
});
