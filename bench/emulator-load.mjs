/**
 * Can one emulator process keep its pace? It serves 500 streams at once, 20 deltas per second each, to another process.
 * The lag of a delta is its arrival time minus its due time. Delta n is due n × 50 ms after the start of its stream. The
 * start is the earliest time that fits all deltas, so a slow first delta also counts as lag. If the emulator falls behind,
 * the lag grows, so the verdict uses the median of the last second. Other load only affects the 99th percentile.
 *
 *   node --import tsx bench/emulator-load.mjs [streams=500] [seconds=15] [perSecond=20]
 */

import { spawn } from "node:child_process";
import http from "node:http";
import { fileURLToPath } from "node:url";

const [role, ...rest] = process.argv.slice(2);
const self = fileURLToPath(import.meta.url);
if (role === "server") await serve(...rest.map(Number));
else if (role === "client") await drive(rest[0], ...rest.slice(1).map(Number));
else await main(...process.argv.slice(2).map(Number));

async function main(streams = 500, seconds = 15, perSecond = 20) {
  const server = start("server", seconds, perSecond);
  const baseUrl = await firstLine(server);
  const client = start("client", baseUrl, streams, perSecond);
  const figures = JSON.parse(await firstLine(client));
  server.stdin.end();
  const cpu = JSON.parse(await firstLine(server));
  const asked = streams * perSecond;
  process.stdout.write(
    [
      `node ${process.version}, ${streams} streams, ${perSecond} deltas/s each, ${seconds} s`,
      `deltas: ${figures.deltas} (${Math.round(figures.perSecond)} per second; asked ${asked}), streams completed: ${figures.completed}`,
      `lag ms: p50 ${figures.p50}  p99 ${figures.p99}  max ${figures.max}   first second p99 ${figures.firstP99}   last second p50 ${figures.lastP50}  p99 ${figures.lastP99}`,
      `server: ${cpu.cpuPercent} % of one core, ${cpu.rssMiB} MiB, event loop p99 ${cpu.loopP99Ms} ms, max ${cpu.loopMaxMs} ms; client loop max ${figures.loopMaxMs} ms`,
      "",
    ].join("\n"),
  );
  const keepsUp = figures.completed === streams && figures.lastP50 < 1000 / perSecond;
  process.stdout.write(keepsUp ? "keeps up\n" : "FALLS BEHIND\n");
  process.exitCode = keepsUp ? 0 : 1;
}

function start(...args) {
  return spawn(process.execPath, ["--import", "tsx", self, ...args.map(String)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function serve(seconds, perSecond) {
  const { monitorEventLoopDelay } = await import("node:perf_hooks");
  const { startEmulator, loadScenario } = await import("../src/emulator/index.ts");
  const words = Array.from({ length: seconds * perSecond }, (_, index) => `w${index % 10}`).join(" ");
  const step = { output: [{ message: words }] };
  const scenario = loadScenario(JSON.stringify({ afterwards: "repeat", steps: [step] }), "bench.json");
  const emulator = await startEmulator({ scenario, paceMs: 1000 / perSecond });
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const cpu = process.cpuUsage();
  const began = performance.now();
  process.stdout.write(`${emulator.baseUrl}\n`);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once("end", resolve));
  const used = process.cpuUsage(cpu);
  const elapsed = performance.now() - began;
  process.stdout.write(
    `${JSON.stringify({
      cpuPercent: Math.round((used.user + used.system) / 10 / elapsed),
      rssMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
      loopP99Ms: Math.round(loop.percentile(99) / 1e5) / 10,
      loopMaxMs: Math.round(loop.max / 1e5) / 10,
    })}\n`,
  );
  await emulator.close();
}

async function drive(baseUrl, streams, perSecond) {
  const { monitorEventLoopDelay } = await import("node:perf_hooks");
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const interval = 1000 / perSecond;
  const agent = new http.Agent({ keepAlive: false, maxSockets: Infinity });
  const lags = [];
  let completed = 0;
  const began = performance.now();
  const one = (number) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({
        model: "emu-reasoner",
        store: false,
        stream: true,
        input: `stream ${number}`,
        stream_options: { include_obfuscation: false },
      });
      const request = http.request(
        `${baseUrl}/responses`,
        { agent, method: "POST", headers: { authorization: "Bearer sk-bench" } },
        (response) => {
          response.setEncoding("utf8");
          const arrivals = [];
          response.on("data", (chunk) => {
            const now = performance.now();
            let found = chunk.indexOf("event: response.output_text.delta");
            for (; found !== -1; found = chunk.indexOf("event: response.output_text.delta", found + 1)) {
              arrivals.push(now);
            }
            if (chunk.includes("event: response.completed")) completed += 1;
          });
          response.on("end", () => {
            const offsets = arrivals.map((now, index) => now - index * interval);
            const begin = Math.min(...offsets);
            for (const [index, offset] of offsets.entries()) lags.push([index, offset - begin]);
            resolve();
          });
          response.on("error", reject);
        },
      );
      request.on("error", reject);
      request.end(body);
    });
  await Promise.all(Array.from({ length: streams }, (_, number) => one(number)));
  const seconds = (performance.now() - began) / 1000;
  const last = Math.max(...lags.slice(0, 5000).map(([index]) => index), lags.at(-1)?.[0] ?? 0);
  const of = (wanted) =>
    lags
      .filter(([index]) => wanted(index))
      .map(([, lag]) => lag)
      .toSorted((a, b) => a - b);
  const all = of(() => true);
  process.stdout.write(
    `${JSON.stringify({
      deltas: lags.length,
      perSecond: lags.length / seconds,
      completed,
      loopMaxMs: Math.round(loop.max / 1e5) / 10,
      p50: at(all, 0.5),
      p99: at(all, 0.99),
      max: at(all, 1),
      firstP99: at(
        of((index) => index < perSecond),
        0.99,
      ),
      lastP50: at(
        of((index) => index > last - perSecond),
        0.5,
      ),
      lastP99: at(
        of((index) => index > last - perSecond),
        0.99,
      ),
    })}\n`,
  );
}

function at(list, share) {
  const value = list[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0;
  return Math.round(value * 10) / 10;
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (chunk) => {
      text += chunk;
      if (!text.includes("\n")) return;
      child.stdout.off("data", read);
      resolve(text.slice(0, text.indexOf("\n")));
    };
    child.stdout.on("data", read);
    child.once("exit", () => reject(new Error("the process ended before it printed anything")));
  });
}
