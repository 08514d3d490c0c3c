/**
 * A process with one Throughline server (memory store) that uses the provider at `argv[2]`, for the scripts that measure
 * the server. Prints its address and token. For every line on its standard input it prints its usage since the last one:
 * processor time, memory, event loop lag, and streams. Ends when its standard input closes.
 *
 * @module
 */
import { createHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";

import { MODEL } from "./load/response.mjs";

const dist = (path) => new URL(`../dist/${path}`, import.meta.url).href;
const { createAgent, memoryStore, openai } = await import(dist("index.js"));
const { startServer } = await import(dist("access/server/index.js"));

const model = openai(MODEL, { baseUrl: process.argv[2], apiKey: "bench" });
const server = await startServer({ store: memoryStore(), agent: createAgent({ model }), port: 0 });
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const loop = monitorEventLoopDelay({ resolution: 5 });
loop.enable();
let cpu = process.cpuUsage();
/** Processor time between two samples of the loop: our own share of the lag, without the machine's. */
const work = createHistogram();
let looked = process.cpuUsage();
setInterval(() => {
  const { user, system } = process.cpuUsage(looked);
  work.record(Math.max(1, user + system));
  looked = process.cpuUsage();
}, 5);
say({ url: server.url, token: server.token });
// The 5 ms between two samples of the loop are not lag.
const lag = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - 5);
for await (const _ of createInterface({ input: process.stdin })) {
  const { user, system } = process.cpuUsage(cpu);
  say({
    cpuMs: (user + system) / 1000,
    rssMb: process.memoryUsage.rss() / 2 ** 20,
    lagMs: { p50: lag(loop.percentile(50)), p99: lag(loop.percentile(99)), max: lag(loop.max) },
    workMs: { p99: work.percentile(99) / 1000, max: work.max / 1000 },
    ...server.counters,
  });
  cpu = process.cpuUsage();
  loop.reset();
  work.reset();
}
process.exit(0);
