/** Hundreds of followers of one session, local and over HTTP: no listeners pile up, so Node prints no warning. */

import { expect, test } from "vitest";

import { memoryStore, type SessionHandle } from "../../src/index.ts";
import { anyTool, call, gate, say } from "../contracts/session-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import { followUntil, rawSocket, scriptedAgent, served } from "./server-fixture.ts";

const FOLLOWERS = 250;

/** The process warnings from here to the end of the test. */
function warnings(): readonly string[] {
  const seen: string[] = [];
  const note = ({ name, message }: Error): void => {
    // Warnings about experimental features of Node do not indicate a leak.
    if (name !== "ExperimentalWarning") seen.push(`${name}: ${message}`);
  };
  process.on("warning", note);
  afterTest(() => void process.off("warning", note));
  return seen;
}

/** Makes all of them follow one session with one signal until its turn ends; resolves to how many saw the end. */
async function followAll(handles: readonly SessionHandle[], signal: AbortSignal): Promise<number> {
  const ends = await Promise.all(
    handles.map(async (handle) => {
      for await (const event of handle.follow({ signal })) if (event.type === "turn_end") return 1;
      return 0;
    }),
  );
  return ends.reduce((sum: number, one) => sum + one, 0);
}

/** Node emits a warning in its own tick. */
const told = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("local followers of a session share a signal without a warning", async () => {
  const seen = warnings();
  const { agent } = await scriptedAgent({ script: [{ output: [say("one")] }] });
  const session = await agent.open({ id: "s1", store: memoryStore() });
  const stop = new AbortController();
  const following = followAll(
    Array.from({ length: FOLLOWERS }, () => session),
    stop.signal,
  );
  expect((await session.send("go").result()).status).toBe("completed");
  expect(await following).toBe(FOLLOWERS);
  await told();
  expect(seen).toEqual([]);
});

test("followers over HTTP share a session, a client and a signal without a warning", async () => {
  const seen = warnings();
  const parts = await served({ script: [{ output: [say("one")] }] });
  const session = await parts.remote.open({ id: "s1" });
  const stop = new AbortController();
  const following = followAll(
    Array.from({ length: FOLLOWERS }, () => session),
    stop.signal,
  );
  await expect.poll(() => parts.server.counters.open).toBe(FOLLOWERS);
  expect((await session.send("go").result()).status).toBe("completed");
  expect(await following).toBe(FOLLOWERS);
  await told();
  expect(seen).toEqual([]);
});

test("turns that share a signal, and the calls of one step, cause no warning", async () => {
  const seen = warnings();
  const all = gate();
  let running = 0;
  const { agent } = await scriptedAgent({
    script: [{ output: Array.from({ length: 30 }, () => call("wait")) }, { output: [say("done")] }],
    tools: [
      anyTool("wait", async () => {
        running += 1;
        if (running === 30) all.open();
        await all.promise;
        return "ok";
      }),
    ],
  });
  const session = await agent.open({ id: "s1", store: memoryStore() });
  const { signal } = new AbortController();
  const turns = Array.from({ length: 15 }, () => session.send("go", { signal }));
  for (const turn of turns) expect((await turn.result()).status).toBe("completed");
  await told();
  expect([running, seen]).toEqual([30, []]);
});

test("a turn completes next to 200 streams that are never read, and a reader sees all of it", async () => {
  const parts = await served({ script: [{ output: [say("word ".repeat(2000))] }] });
  const session = await parts.remote.open({ id: "s1" });
  const head = `host: 127.0.0.1:${parts.server.port}\r\nauthorization: Bearer ${parts.server.token}`;
  const unread = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const socket = await rawSocket(parts.server);
      socket.on("error", () => undefined); // the server may drop it
      socket.pause();
      socket.write(`GET /api/sessions/s1/events HTTP/1.1\r\n${head}\r\n\r\n`);
      return socket;
    }),
  );
  await expect.poll(() => parts.server.counters.open).toBe(200);
  const following = followUntil(session, ({ type }) => type === "turn_end");
  expect((await session.send("go").result()).status).toBe("completed");
  const seen = await following;
  const text = seen.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");
  expect(text).toBe("word ".repeat(2000));
  const open = parts.server.counters.open + parts.server.counters.dropped;
  expect(open).toBeGreaterThanOrEqual(200);
  for (const socket of unread) socket.destroy();
  await expect.poll(() => parts.server.counters.open).toBe(0);
});
