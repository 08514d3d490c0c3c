/**
 * One node of idle.mjs in its own process: opens many sessions and then does nothing.
 *
 *   node --expose-gc idle-node.mjs URL
 *
 * @module
 */
import { createHook } from "node:async_hooks";

import { library, pause, serve } from "./figures.mjs";

const [url] = process.argv.slice(2);
const CONCURRENT = 32;

const timers = new Set();
let begun = 0;
createHook({
  init(id, type) {
    if (type !== "Timeout") return;
    timers.add(id);
    begun += 1;
  },
  destroy: (id) => timers.delete(id),
}).enable();

const { createAgent, emulator, postgresStore } = await library();
const store = postgresStore(url, { name: "idle", pool: "bench" });
// A node that takes commands asks for them, as a server does.
store.shared.onAsked(() => undefined);
const agent = createAgent({ model: emulator() });
const opened = [];
const ends = new AbortController();
let cpu = process.cpuUsage();

async function inTurn(ids, work) {
  const rest = [...ids];
  await Promise.all(
    Array.from({ length: CONCURRENT }, async () => {
      for (let id = rest.pop(); id !== undefined; id = rest.pop()) opened.push(await work(id));
    }),
  );
}

async function follow(log) {
  for await (const _ of log.changes(ends.signal)) continue;
}

serve({
  /** Sessions that this node writes. */
  hold: (ids) => inTurn(ids, (id) => agent.open({ store, id })),
  /** Sessions that this node shows to somebody while nothing happens in them. */
  follow: (ids) =>
    inTurn(ids, async (id) => {
      const log = await store.open(id, { mode: "read" });
      void follow(log);
      return log;
    }),
  async figures() {
    globalThis.gc();
    await pause(100); // timers that have ended are told of later
    const { user, system } = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const result = {
      cpuMs: (user + system) / 1000,
      rss,
      heapUsed,
      timers: timers.size,
      begun,
      opened: opened.length,
    };
    begun = 0;
    return result;
  },
  async close() {
    ends.abort();
    const rest = opened.splice(0);
    await Promise.all(
      Array.from({ length: CONCURRENT }, async () => {
        for (let one = rest.pop(); one !== undefined; one = rest.pop()) await one.close();
      }),
    );
    await store.close();
  },
});
