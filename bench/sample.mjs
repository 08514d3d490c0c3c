/**
 * Takes one sample: a new process, one adapter, one kind of work. Prints the cost and the totals as one line of JSON.
 * Processor time and wall time cover the work only, after a small request that loads everything that is loaded once.
 *
 * @module
 */
import { historyItems, historyStep } from "./load/history.mjs";
import { median } from "./statistics.mjs";

const order = JSON.parse(process.argv[2]);

/** Runs the work. It may call `stop` to end the measurement early. */
async function measured(work) {
  let cost;
  const before = process.cpuUsage();
  const from = performance.now();
  const stop = () => {
    const { user, system } = process.cpuUsage(before);
    const doneAt = String(process.hrtime.bigint());
    cost ??= { cpuMs: (user + system) / 1000, wallMs: performance.now() - from, doneAt };
  };
  await work(stop);
  stop();
  return cost;
}

function nothingSeen() {
  return { text: 0, reasoning: 0, arguments: 0, calls: 0, ciphertexts: () => [] };
}

/** Enough of a ciphertext to identify it. */
function known(ciphertext) {
  return `${ciphertext.length} ${ciphertext.slice(0, 16)} ${ciphertext.slice(-16)}`;
}

function totalsOf({ text, reasoning, arguments: args, calls, ciphertexts }) {
  return { text, reasoning, arguments: args, calls, ciphertexts: ciphertexts().map(known) };
}

/** The items in the body of a request. */
function replayed(body) {
  const { input } = JSON.parse(Buffer.from(body).toString());
  const ciphertexts = input.flatMap(({ encrypted_content: text }) =>
    text === undefined ? [] : [known(text)],
  );
  const outputs = input
    .filter(({ type }) => type === "function_call_output")
    .map(({ output }) => output.length);
  const outputChars = outputs.reduce((sum, length) => sum + length, 0);
  return { items: input.length, outputs: outputs.length, outputChars, ciphertexts };
}

const kinds = {
  /** One answer, read to its end. */
  async ask(client) {
    const seen = nothingSeen();
    const cost = await measured(() => client.ask(order.url, seen));
    return { ...cost, totals: totalsOf(seen) };
  },

  /** A tool loop. Each run of the tool records the processor time so far. */
  async loop(client) {
    const seen = nothingSeen();
    const marks = [];
    const mark = () => {
      const { user, system } = process.cpuUsage();
      marks.push((user + system) / 1000);
    };
    const cost = await measured(() => client.loop(order.url, seen, order.steps, mark));
    const tenth = Math.max(1, Math.round(order.steps / 10));
    const lastTenthMs = (marks.at(-1) - (marks.at(-1 - tenth) ?? marks[0])) / tenth;
    return { ...cost, lastTenthMs, totals: { ...totalsOf(seen), steps: marks.length } };
  },

  /** From a history in memory to the bytes of a request, and the same for the next turn. */
  async build(client) {
    const items = historyItems(order.items);
    const build = await client.builder(items, historyStep(order.items));
    const bodies = [];
    const costs = [];
    for (const turn of [0, 1]) {
      costs.push(await measured(async (stop) => bodies.push(await build(turn, stop))));
    }
    const [cold, next] = bodies;
    const totals = { ...replayed(cold), grows: Buffer.byteLength(next) > Buffer.byteLength(cold) };
    return { ...costs[0], nextCpuMs: costs[1].cpuMs, bodyBytes: Buffer.byteLength(cold), totals };
  },

  /** From a file to an open session or, with `send`, to the bytes of its first request. */
  async open(client) {
    let opened;
    const cost = await measured(async (stop) => {
      opened = await client.openFile(order.file, order.send === true, stop);
    });
    const { events, body } = await opened();
    return { ...cost, totals: { events, ...(body === undefined ? {} : replayed(body)) } };
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

const { createClient } = await import(`./adapters/${order.adapter}.mjs`);
const client = await createClient(order);
if (order.warmUrl !== undefined) await client.ask(order.warmUrl, nothingSeen());
client.begin?.();
const result = await kinds[order.kind](client);
const peakMb = process.resourceUsage().maxRSS / 1024;
const facts = (await client.facts?.()) ?? {};
const line = `${JSON.stringify({ ...result, peakMb, node: process.version, ...facts })}\n`;
// Open connections would keep the process alive, and output to a pipe must be flushed before it ends.
process.stdout.write(line, () => process.exit(0));
