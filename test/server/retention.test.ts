/**
 * What a server still holds after it is no longer needed, counted: deltas of turns, and clients that have left. Under
 * load it used to hold the last 64 turns of every session with all their deltas.
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

/** How many of these objects are still reachable. */
async function alive(refs: readonly WeakRef<object>[]): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await nextRound(); // objects accessed in this round of the event loop are kept until the next
    collectGarbage();
  }
  return refs.filter((ref) => ref.deref() !== undefined).length;
}

interface Watched extends Served {
  readonly deltas: WeakRef<object>[];
  /** The signals that end each client's following. */
  readonly signals: WeakRef<object>[];
}

/** The server's own sessions, with the events that pass through them observed. */
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
    session: async (id, given) => watch(await agent.session(id, given)),
  };
  const parts = await served({ ...options, server: { agent: watching } });
  return { ...parts, deltas, signals };
}

test("no delta of an ended turn is held, however many turns are remembered", async () => {
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

test("a running turn does not hold the deltas it has already delivered", async () => {
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
  // The last few may still be on their way to a follower.
  expect(await alive(deltas)).toBeLessThan(20);
  waiting.open("waited");
  expect((await turn.result()).text).toBe("done");
});

test("nothing is held for clients that have left", async () => {
  const { server, remote, signals } = await watched({});
  const session = await remote.open({ id: "s1" });
  await session.send("Hello").result();
  for (let client = 0; client < 20; client += 1) await ask(server, { path: "/api/sessions/s1/events" });
  await session.close();
  await expect.poll(() => server.counters.open).toBe(0);
  expect(signals.length).toBeGreaterThanOrEqual(20);
  expect(await alive(signals)).toBeLessThan(3);
});
