/**
 * What a server still holds when it is no longer needed, counted: deltas of turns, and clients that have gone. Under load
 * it held the last 64 turns of every session with all their deltas.
 */

import { setImmediate as nextRound } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect, test } from "vitest";

import { type Agent, isEphemeral, type Session, tool } from "../../src/index.ts";
import { call, gate, say } from "../contracts/session-fixture.ts";
import { ask, followUntil, scriptedAgent, served, type Served } from "./server-fixture.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** How many of these something still holds on to. */
async function alive(refs: readonly WeakRef<object>[]): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await nextRound(); // what was looked at in this round of the loop is kept until the next
    collectGarbage();
  }
  return refs.filter((ref) => ref.deref() !== undefined).length;
}

interface Watched extends Served {
  readonly deltas: WeakRef<object>[];
  /** What each client's following is ended by. */
  readonly signals: WeakRef<object>[];
}

/** The server's own sessions, with an eye on what goes through them. */
async function watched(options: Parameters<typeof served>[0]): Promise<Watched> {
  const { agent } = await scriptedAgent(options ?? {});
  const deltas: WeakRef<object>[] = [];
  const signals: WeakRef<object>[] = [];
  const watch = (session: Session): Session => {
    const follow = session.followBatches.bind(session);
    session.followBatches = async function* (following = {}) {
      if (following.signal !== undefined) signals.push(new WeakRef(following.signal));
      for await (const batch of follow(following)) {
        for (const event of batch) if (isEphemeral(event)) deltas.push(new WeakRef(event));
        yield batch;
      }
    };
    return session;
  };
  const watching: Agent = {
    sessions: (store) => agent.sessions(store),
    open: async (open) => watch(await agent.open(open)),
  };
  const parts = await served({ ...options, server: { agent: watching } });
  return { ...parts, deltas, signals };
}

test("of turns that are over no delta is held, however many are remembered", async () => {
  const { remote, deltas } = await watched({});
  const session = await remote.open({ id: "s1" });
  for (let turn = 0; turn < 5; turn += 1) {
    const seen = followUntil(session, ({ type }) => type === "turn_end", session.lastSeq);
    expect((await session.send("Tell me something about rivers.").result()).status).toBe("completed");
    await seen;
  }
  expect(deltas.length).toBeGreaterThan(100);
  expect(await alive(deltas)).toBe(0);
});

test("of a turn that goes on, what was told already is not held either", async () => {
  const waiting = gate<string>();
  const waits = tool({
    name: "wait",
    description: "Waits",
    input: { type: "object", properties: {}, additionalProperties: false },
    access: "read",
    run: () => waiting.promise,
  });
  const { remote, deltas } = await watched({
    tools: [waits],
    script: [{ output: [say("word ".repeat(500)), call("wait")] }, { output: [say("done")] }],
  });
  const session = await remote.open({ id: "s1" });
  const started = followUntil(session, ({ type }) => type === "tool_start");
  const turn = session.send("go");
  await started;
  expect(deltas.length).toBeGreaterThan(400);
  // The last few may still be on their way to whoever follows.
  expect(await alive(deltas)).toBeLessThan(20);
  waiting.open("waited");
  expect((await turn.result()).text).toBe("done");
});

test("of clients that came and went nothing is left", async () => {
  const { server, remote, signals } = await watched({});
  const session = await remote.open({ id: "s1" });
  await session.send("Hello").result();
  for (let client = 0; client < 20; client += 1) await ask(server, { path: "/api/sessions/s1/events" });
  await session.close();
  await expect.poll(() => server.counters.open).toBe(0);
  expect(signals.length).toBeGreaterThanOrEqual(20);
  expect(await alive(signals)).toBeLessThan(3);
});
