/**
 * What does the proxy cost? The same requests go directly to a provider, through a bare pipe of `node:http`, and through
 * the proxy, in turn. Provider, pipe and proxy are processes of their own, so the processor time of each is known. Needs
 * `npm run build`.
 *
 *   node bench/proxy.mjs [rounds=200] [streams=500]
 *
 * Prints the time to the first byte of the answer (p50 and p99), processor time per MB of request and per MB of stream,
 * and the memory at many streams at once.
 *
 * @module
 */
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SELF = fileURLToPath(import.meta.url);
const STREAM_EVENTS = 20_000;
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const SIZES = { "10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000 };

const role = process.argv[2];
if (role === "provider") await provider();
else if (role === "pipe") await pipe(process.argv[3]);
else if (role === "proxy") await proxy(process.argv[3]);
else await main(...process.argv.slice(2).map(Number));

async function main(rounds = 200, streams = 500) {
  const upstream = await start("provider");
  const ways = {
    direct: { url: upstream.url, child: upstream },
    pipe: await start("pipe", upstream.url),
    proxy: await start("proxy", upstream.url),
  };
  const table = [];
  for (const [size, bytes] of Object.entries(SIZES))
    table.push(...(await requests(ways, size, bytes, rounds)));
  table.push(...(await longStream(ways)));
  table.push(...(await manyStreams(ways, streams)));
  // oxlint-disable-next-line no-console -- the figures are what it is for
  console.table(table);
  for (const { child } of [{ child: upstream }, ways.pipe, ways.proxy]) (child.process ?? child).kill();
}

/** A conversation that grows by one step per request, as an agent's does. */
function conversation(bytes, seed) {
  const input = [{ role: "user", content: `Task ${seed}` }];
  for (let step = 0; JSON.stringify(input).length < bytes; step += 1)
    input.push(
      {
        type: "reasoning",
        id: `rs_${seed}_${step}`,
        summary: [],
        encrypted_content: "gAAAA".padEnd(900, `${seed}${step}x`),
      },
      {
        type: "function_call",
        call_id: `call_${seed}_${step}`,
        name: "read",
        arguments: JSON.stringify({ path: `f${step}` }),
      },
      { type: "function_call_output", call_id: `call_${seed}_${step}`, output: `line ${step} `.repeat(60) },
    );
  return input;
}

function bodyOf(input) {
  return Buffer.from(JSON.stringify({ model: "m", store: false, input, tools: [] }));
}

async function requests(ways, size, bytes, rounds) {
  const times = {};
  const before = await figures(ways);
  let sent = 0;
  const input = conversation(bytes, size.replace(" ", ""));
  for (let turn = 0; turn < rounds; turn += 1) {
    input.push(
      { type: "function_call", call_id: `g${turn}`, name: "read", arguments: `{"path":"g${turn}"}` },
      { type: "function_call_output", call_id: `g${turn}`, output: `${turn}` },
    );
    const body = bodyOf(input);
    sent += body.length;
    for (const [name, { url }] of Object.entries(ways)) (times[name] ??= []).push(await firstByte(url, body));
  }
  const after = await figures(ways);
  return Object.keys(ways).map((name) => ({
    row: `request of ${size}`,
    way: name,
    "first byte p50 (ms)": percentile(times[name], 0.5),
    "p99 (ms)": percentile(times[name], 0.99),
    "added p50 (ms)":
      name === "direct" ? "" : round(percentile(times[name], 0.5) - percentile(times.direct, 0.5)),
    "CPU per MB (ms)":
      name === "direct" ? "" : round((after[name].cpuMs - before[name].cpuMs) / (sent / 1e6)),
  }));
}

async function longStream(ways) {
  const rows = [];
  for (const [name, { url }] of Object.entries(ways)) {
    const before = await figures(ways);
    const hash = createHash("sha256");
    const bytes = await readStream(url, { events: STREAM_EVENTS, gap: 0 }, hash);
    const after = await figures(ways);
    rows.push({
      row: `stream of ${STREAM_EVENTS} events`,
      way: name,
      "CPU per MB (ms)":
        name === "direct" ? "" : round((after[name].cpuMs - before[name].cpuMs) / (bytes / 1e6)),
      "CPU (ms)": name === "direct" ? "" : round(after[name].cpuMs - before[name].cpuMs),
      hash: hash.digest("hex").slice(0, 8),
    });
  }
  return rows;
}

async function manyStreams(ways, streams) {
  const rows = [];
  for (const [name, { url }] of Object.entries(ways)) {
    if (name === "direct") continue;
    const before = await figures(ways);
    await Promise.all(
      Array.from({ length: streams }, () => readStream(url, { events: 100, gap: 50 }, createHash("md5"))),
    );
    const after = await figures(ways);
    rows.push({
      row: `${streams} streams at 20 events/s`,
      way: name,
      "CPU (ms)": round(after[name].cpuMs - before[name].cpuMs),
      "peak RSS (MB)": round(after[name].rssMb),
      "RSS per stream (MB)": round((after[name].rssMb - before[name].rssMb) / streams),
      "lag p99 (ms)": round(after[name].lagMs),
    });
  }
  return rows;
}

function firstByte(url, body) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/responses`, {
      method: "POST",
      agent,
      headers: { "content-type": "application/json" },
    });
    sent.on("response", (answer) => {
      answer.once("data", () => resolve(performance.now() - began));
      answer.on("error", reject);
      answer.resume();
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function readStream(url, { events, gap }, hash) {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/responses`, {
      method: "POST",
      agent,
      headers: { "content-type": "application/json", "x-events": String(events), "x-gap": String(gap) },
    });
    let bytes = 0;
    sent.on("response", (answer) => {
      answer.on("data", (chunk) => {
        bytes += chunk.length;
        hash.update(chunk);
      });
      answer.on("end", () => resolve(bytes));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(bodyOf([{ role: "user", content: `stream ${Math.random()}` }]));
  });
}

/** Answers with a whole response, or with as many events as the request asks for. */
async function provider() {
  const whole = JSON.stringify({
    id: "resp_1",
    object: "response",
    status: "completed",
    output: [
      { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "OK" }] },
    ],
  });
  const server = createServer((asked, answer) => {
    asked.resume();
    asked.on("end", () => void respond(asked, answer));
  });
  await listening(server);

  async function respond(asked, answer) {
    const events = Number(asked.headers["x-events"] ?? 0);
    const gap = Number(asked.headers["x-gap"] ?? 0);
    if (events === 0) {
      answer.writeHead(200, { "content-type": "application/json" });
      answer.end(whole);
      return;
    }
    answer.writeHead(200, { "content-type": "text/event-stream" });
    const send = (type, value) =>
      answer.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`);
    send("response.created", { response: { id: "resp_2" } });
    send("response.output_item.added", {
      output_index: 0,
      item: { type: "message", id: "msg_2", content: [] },
    });
    for (let count = 0; count < events; count += 1) {
      send("response.output_text.delta", {
        output_index: 0,
        content_index: 0,
        item_id: "msg_2",
        delta: `word ${count} `,
      });
      if (gap > 0) await new Promise((resolve) => setTimeout(resolve, gap));
      else if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const item = {
      type: "message",
      id: "msg_2",
      role: "assistant",
      content: [{ type: "output_text", text: "done" }],
    };
    send("response.output_item.done", { output_index: 0, item });
    send("response.completed", { response: { id: "resp_2", status: "completed", output: [item] } });
    answer.end();
  }
}

/** The least a proxy can do. */
async function pipe(upstream) {
  const keep = new Agent({ keepAlive: true, maxSockets: Infinity });
  const server = createServer((asked, answer) => {
    const { host: _host, connection: _connection, ...headers } = asked.headers;
    const sent = request(upstream + asked.url, { method: asked.method, headers, agent: keep }, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
    });
    asked.pipe(sent);
  });
  await listening(server);
}

async function proxy(upstream) {
  const source = process.env.THROUGHLINE_BENCH_SOURCE;
  const { startProxy } = await import(
    source ?? new URL("../dist/proxy/relay/index.js", import.meta.url).href
  );
  const ledger = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  const { url } = await startProxy({ to: upstream, port: 0, ledger });
  await tell(url);
}

async function listening(server) {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  await tell(`http://127.0.0.1:${server.address().port}`);
}

async function tell(url) {
  const { monitorEventLoopDelay } = await import("node:perf_hooks");
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    const { maxRSS } = process.resourceUsage();
    const rssMb = process.memoryUsage().rss / 1e6;
    process.send({
      cpuMs: (user + system) / 1000,
      rssMb: Math.max(rssMb, 0),
      peakMb: maxRSS / 1000,
      lagMs: lag.percentile(99) / 1e6,
    });
    lag.reset();
  });
  process.on("disconnect", () => process.exit());
  process.send({ url });
}

async function start(name, upstream = "") {
  const child = fork(SELF, [name, upstream], { execArgv: process.execArgv });
  const { url } = await message(child);
  return { url, child, figures: () => (child.send("figures"), message(child)), kill: () => child.kill() };
}

async function figures(ways) {
  const all = {};
  for (const [name, way] of Object.entries(ways)) all[name] = await (way.figures ?? way.child.figures)();
  return all;
}

function message(child) {
  return new Promise((resolve) => child.once("message", resolve));
}

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
}

function round(value) {
  return Math.round(value * 1000) / 1000;
}
