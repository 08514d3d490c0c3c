/**
 * Takes one sample: a new process, one adapter, one kind of work. Prints the cost and the totals as one line of JSON.
 *
 * One rule for all adapters: the module is loaded, one tiny request is answered, then the work is done. That is the cold
 * figure. With `order.warm` the same work follows again, up to that many times and for some seconds, in the same process;
 * the warm figure is the median of the last of these rounds. Processor time and wall time cover the work only.
 *
 * @module
 */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";

import { answeringFetch } from "./adapters/answering-fetch.mjs";
import { historyItems, historyStep } from "./load/history.mjs";
import { itemsSent, known } from "./load/items-sent.mjs";
import { lastOf, median, mediansOf } from "./statistics.mjs";

const order = JSON.parse(process.argv[2]);
/** The measured time of the warm rounds, and all of it with what prepares them. */
const WARM_MS = 1500;
const ROUNDS_MS = 6000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Runs the work. It may call `stop` to end the measurement early. */
async function measured(work) {
  let cost;
  globalThis.gc?.(); // the garbage of the preparation is nobody's cost
  const before = process.cpuUsage();
  const from = performance.now();
  const stop = () => {
    if (cost !== undefined) return;
    const { user, system } = process.cpuUsage(before);
    const wallMs = performance.now() - from;
    const doneAt = String(process.hrtime.bigint());
    const peakMb = process.resourceUsage().maxRSS / 1024;
    cost = { cpuMs: (user + system) / 1000, wallMs, doneAt, peakMb };
  };
  await work(stop);
  stop();
  return cost;
}

function nothingSeen() {
  return { text: 0, reasoning: 0, arguments: 0, calls: 0, ciphertexts: () => [] };
}

function totalsOf({ text, reasoning, arguments: args, calls, ciphertexts }) {
  return { text, reasoning, arguments: args, calls, ciphertexts: ciphertexts().map(known) };
}

/** Each kind is one round. `end` releases what the round has left open, after the measurement. */
const kinds = {
  /** One answer, read to its end. */
  async ask(client) {
    const seen = nothingSeen();
    let end;
    const cost = await measured(async () => {
      end = await client.ask(order.url, seen);
    });
    return { ...cost, totals: totalsOf(seen), end };
  },

  /** A tool loop. Each run of the tool records the processor time so far. */
  async loop(client) {
    const seen = nothingSeen();
    const marks = [];
    const mark = () => {
      const { user, system } = process.cpuUsage();
      marks.push((user + system) / 1000);
    };
    const given = order.inject === undefined ? undefined : answeringFetch(order.inject);
    let end;
    const cost = await measured(async () => {
      end = await client.loop(order.url, seen, order.steps, mark, given?.fetch);
    });
    const tenth = Math.max(1, Math.round(order.steps / 10));
    const lastTenthMs = (marks.at(-1) - (marks.at(-1 - tenth) ?? marks[0])) / tenth;
    const totals = { ...totalsOf(seen), steps: marks.length };
    return { ...cost, lastTenthMs, totals, end, ...(given === undefined ? {} : { server: given.sent() }) };
  },

  /** From a history in memory to the bytes of a request, and the same for the next turn. */
  async build(client) {
    const items = historyItems(order.items);
    const { build, end } = await client.builder(items, historyStep(order.items));
    const bodies = [];
    const costs = [];
    for (const turn of [0, 1]) {
      costs.push(await measured(async (stop) => bodies.push(await build(turn, stop))));
    }
    const [first, next] = bodies.map((body) => Buffer.from(body));
    const totals = { ...itemsSent(first), grows: next.length > first.length };
    return { ...costs[0], nextCpuMs: costs[1].cpuMs, bodyBytes: first.length, totals, end };
  },

  /** From a file to an open session or, with `send`, to the bytes of its first request. */
  async open(client, round) {
    const own = join(order.folder, `round-${round}`);
    mkdirSync(own, { mode: 0o700 });
    const file = join(own, "big.jsonl");
    copyFileSync(order.template, file);
    const lag = monitorEventLoopDelay({ resolution: 1 });
    lag.enable();
    await pause(20); // it counts from its first tick on; a reset would forget that
    let opened;
    const cost = await measured(async (stop) => {
      opened = await client.openFile(file, order.send === true, stop);
    });
    await pause(10); // lets the clock see the end of the last piece
    lag.disable();
    const { events, body, end } = opened;
    const totals = { events, ...(body === undefined ? {} : itemsSent(Buffer.from(body))) };
    const remove = async () => {
      await end?.();
      rmSync(own, { recursive: true });
    };
    return { ...cost, blockedMs: lag.max / 1e6, totals, end: remove };
  },

  /** The sessions of a folder. */
  async list(client) {
    let listed;
    const cost = await measured(async () => {
      listed = await client.list(order.template, order.search);
    });
    return { ...cost, totals: { listed } };
  },

  /** Many answers at once, each at a slow pace. */
  async conc(client) {
    const seen = nothingSeen();
    const before = process.memoryUsage.rss();
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 200);
    const cost = await measured(async () => {
      await Promise.all(Array.from({ length: order.streams }, () => client.ask(order.url, seen)));
    });
    clearInterval(timer);
    return { ...cost, mbPerStream: (peak - before) / 2 ** 20 / order.streams, totals: totalsOf(seen) };
  },

  /** From the call to its first delta, many times. */
  async first(client) {
    const total = nothingSeen();
    const times = [];
    const cost = await measured(async () => {
      for (let n = 0; n < order.calls; n += 1) {
        const call = await client.prepare(order.url);
        let at;
        const onText = () => {
          at ??= performance.now();
        };
        const seen = { ...nothingSeen(), onText };
        const from = performance.now();
        await call(seen);
        times.push(at - from);
        total.text += seen.text;
      }
    });
    return { ...cost, medianMs: median(times), totals: totalsOf(total) };
  },

  /** The age of each delta on arrival. The server writes the time into it. */
  async lat(client) {
    const ages = [];
    const onText = (delta) => ages.push(Number(process.hrtime.bigint() - BigInt(delta)) / 1e6);
    const seen = { ...nothingSeen(), onText };
    const cost = await measured(() => client.ask(order.url, seen));
    return { ...cost, medianMs: median(ages), totals: totalsOf(seen) };
  },
};

/** One round: its figures, its totals, and what it wrote. */
async function roundOf(client, number) {
  client.begin?.();
  const { end, ...result } = await kinds[order.kind](client, number);
  const written = (await client.written?.()) ?? {};
  await end?.();
  return { ...result, ...written };
}

const { createClient } = await import(`./adapters/${order.adapter}.mjs`);
const client = await createClient(order);
await (
  await client.ask(order.warmUrl, nothingSeen())
)?.();
const rounds = [await roundOf(client, 0)];
const from = performance.now();
let spent = 0;
while (rounds.length <= (order.warm ?? 0) && spent < WARM_MS && performance.now() - from < ROUNDS_MS) {
  const round = await roundOf(client, rounds.length);
  if (JSON.stringify(round.totals) !== JSON.stringify(rounds[0].totals))
    throw new Error(`round ${rounds.length} has other totals than the first`);
  rounds.push(round);
  spent += round.wallMs;
}
const [cold, ...warm] = rounds;
const result = {
  ...cold,
  ...(warm.length === 0 ? {} : { warm: mediansOf(lastOf(warm)) }),
  rounds: rounds.length,
  doneAt: rounds.map(({ doneAt }) => doneAt),
  node: process.version,
};
// Open connections would keep the process alive, and output to a pipe must be flushed before it ends.
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
