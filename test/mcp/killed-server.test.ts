/**
 * A server that dies by SIGKILL, at every point of a call. Each kill is one turn of a session against a strict emulator: the
 * call that dies, another call that must work, and an answer. The server counts what it does, in a file.
 */

import { writeFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import type { SessionEvent } from "../../src/index.ts";
import type { ToolOutcome, ToolSource } from "../../src/runtime/tools/index.ts";
import { call, ofType, say, type ScriptStep } from "../contracts/session-fixture.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";
import {
  callTool,
  type Counted,
  counted,
  isAlive,
  knownEras,
  refusals,
  source,
  stdio,
  talk,
  until,
} from "./fixture.ts";

/** What a kill at this point may leave: the status of the result, and how often the call took effect. */
type Left = "ok 1" | "unknown 0" | "unknown 1" | "error 0";

interface Phase {
  /** Sent to the server with the call. */
  readonly phase: string;
  readonly left: readonly Left[];
  /** What this process does before the turn, and when it sees an event of the turn. */
  readonly before?: (server: Counted) => unknown;
  /** The turn begins when this process knows of the death. */
  readonly known?: boolean;
  readonly on?: { readonly type: SessionEvent["type"]; readonly act: (server: Counted) => unknown };
}

const kill = (server: Counted, signal: NodeJS.Signals = "SIGKILL"): void => {
  process.kill(server.pids().at(-1) as number, signal);
};
const doom = (server: Counted): void => writeFileSync(server.doom, "");

const PHASES: Readonly<Record<string, Phase>> = {
  "before the request is read": {
    phase: "none",
    before: (server) => kill(server, "SIGSTOP"),
    on: { type: "tool_start", act: killSoon },
    left: ["unknown 0", "error 0"],
  },
  "while it runs, before the effect": { phase: "before the effect", left: ["unknown 0"] },
  "after the effect": { phase: "after the effect", left: ["unknown 1"] },
  "while it reports progress": {
    phase: "while it waits",
    on: { type: "tool_progress", act: (server) => kill(server) },
    left: ["unknown 1"],
  },
  "in the middle of the answer": { phase: "in the answer", left: ["unknown 1"] },
  "right after the answer": { phase: "after the answer", left: ["ok 1"] },
  "while it is idle": {
    phase: "none",
    before: (server) => kill(server),
    known: true,
    left: ["ok 1"],
  },
  "while it is idle, a moment ago": {
    phase: "none",
    before: (server) => kill(server),
    left: ["ok 1", "unknown 0", "error 0"],
  },
  "in the handshake of a restart": {
    phase: "none",
    before: (server) => (doom(server), kill(server)),
    known: true,
    left: ["error 0"],
  },
  "at a random moment of the call": {
    phase: "none",
    on: { type: "tool_start", act: killAtRandom },
    left: ["ok 1", "unknown 0", "unknown 1", "error 0"],
  },
};

/** After what the call does at once has been done. */
async function killSoon(server: Counted): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setImmediate(done));
  kill(server);
}

async function killAtRandom(server: Counted): Promise<void> {
  await new Promise((done) => setTimeout(done, Math.random() * 6));
  kill(server);
}

const QUICK = 6;
const ROUNDS = runs(QUICK).numRuns;
const STATUS: Readonly<Record<string, string>> = { ok: "ok", error: "error", outcome_unknown: "unknown" };

/** One session, with one turn for each phase. */
async function playRound(tools: ToolSource, server: Counted, first: number, tally: Tally): Promise<void> {
  const phases = Object.entries(PHASES);
  const script = phases.flatMap(([, { phase }], index): ScriptStep[] => [
    { output: [call("mcp__mortal__effect", { id: first + index * 2, phase })] },
    { output: [call("mcp__mortal__effect", { id: first + index * 2 + 1, phase: "none" })] },
    { output: [say("done")] },
  ]);
  const { session, emulator } = await talk(script, [tools]);
  for (const [index, [name, { before, known, on, left }]] of phases.entries()) {
    const id = first + index * 2;
    await connected(tools, server);
    before?.(server);
    if (known === true) await until(() => tools.servers[0]?.state === "lost");
    const events: SessionEvent[] = [];
    let acted: unknown;
    for await (const event of session.send(name)) {
      events.push(event);
      if (acted === undefined && event.type === on?.type) acted = on.act(server) ?? true;
    }
    await acted;
    const [lost, next] = ofType(events, "tool_result");
    const said = `${STATUS[lost?.status ?? ""] ?? lost?.status} ${server.executions(id)}`;
    expect(left, `${name}: ${said}: ${lost?.text}`).toContain(said);
    if (lost?.status === "outcome_unknown") expect(lost.text).toContain("It was not sent again.");
    if (lost?.status === "error") expect(lost.text).toContain("not executed");
    const after = `${STATUS[next?.status ?? ""] ?? next?.status} ${server.executions(id + 1)}`;
    // A process that dies after its answer may be dead, unnoticed, when the next call is written to it; and a kill at a
    // random moment may come in the next call.
    const early = on?.act === killAtRandom ? ["unknown 0", "unknown 1", "error 0"] : ["unknown 0"];
    expect(said === "ok 1" ? ["ok 1", ...early] : ["ok 1"], `${name}, next: ${next?.text}`).toContain(after);
    tally.add(`next call: ${after}`);
    tally.add(`${name}: ${said}`);
    tally.add("kills");
    expect(ofType(events, "turn_end").map(({ status }) => status)).toEqual(["completed"]);
  }
  expect(refusals(emulator)).toEqual([]);
  await session.close();
}

describe.each(["legacy", "modern"] as const)("a server of the %s era", (era) => {
  test(
    "that is killed at any point of a call leaves its outcome unknown, and is never sent the call again",
    { timeout: timeoutFor(QUICK) },
    async () => {
      const server = counted();
      const { counter, lives, doom: doomFile } = server;
      const plan = { counter, lives, doom: doomFile, modern: era === "modern" };
      const tools = source({ mortal: stdio("mortal-server.mjs", plan) }, { eras: knownEras(era) });
      const tally = new Tally();
      for (let round = 0; round < ROUNDS; round += 1) {
        await playRound(tools, server, round * 1000, tally);
      }
      tally.print(`kills of a server of the ${era} era`);
      expect(tally.get("kills")).toBe(ROUNDS * Object.keys(PHASES).length);
      await tools.close();
      await until(() => server.pids().every((pid) => !isAlive(pid)));
    },
  );

  test("that has exited gets no further call, although its output is still open", async () => {
    const server = counted();
    const plan = { ...server, modern: era === "modern" };
    const tools = source({ mortal: stdio("mortal-server.mjs", plan) }, { eras: knownEras(era) });
    await tools.ready();
    const effect = (id: number, phase: string): Promise<ToolOutcome> =>
      callTool(tools, "mcp__mortal__effect", { id, phase });
    expect(await effect(1, "exits, its output stays open")).toMatchObject({ status: "ok" });
    await until(() => isReaped(server.pids().at(-1) as number));
    expect(await effect(2, "none")).toMatchObject({ status: "ok", text: "effect 2" });
    expect([server.executions(1), server.executions(2)]).toEqual([1, 1]);
  });

  test("that is killed in its first handshake is connected again at the next call", async () => {
    const server = counted();
    const { counter, lives, doom: doomFile } = server;
    doom(server);
    const plan = { counter, lives, doom: doomFile, modern: era === "modern" };
    const tools = source({ mortal: stdio("mortal-server.mjs", plan) }, { eras: knownEras(era) });
    await tools.ready();
    // In auto mode a server that ends when it is asked for its era is started once more.
    if (era === "legacy") expect(tools.servers[0]).toMatchObject({ state: "failed" });
    await tools.reconnect();
    expect(tools.servers[0]).toMatchObject({ state: "connected", tools: 1 });
  });
});

/** Resolves when a live server is connected. */
async function connected(tools: ToolSource, server: Counted): Promise<void> {
  await tools.ready();
  const last = server.pids().at(-1) ?? 0;
  if (!isAlive(last)) await until(() => tools.servers[0]?.state !== "connected");
  await tools.reconnect();
}

/** Whether this process has been told of the exit of its child. */
function isReaped(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}
