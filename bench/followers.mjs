/**
 * Measures the cost of following many sessions of other processes: node bench/followers.mjs [sessions] [seconds]
 * Creates small sessions, follows all of them in this process, and prints the share of a core that this takes at rest,
 * without writers and with live writers in another process. Then it prints the time from an append in another process to
 * the follower, and the share of a core that `serve` takes with an idle stream for each session. Shares are the mean and
 * the median of windows of five seconds, because V8 collects garbage once, some seconds after a burst of work. Linux
 * only; needs `npm run build`.
 */
import { fork, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { createAgent, emulator, fileStore } = await import(new URL("../dist/index.js", import.meta.url).href);

const idOf = (number) => `s_${String(number).padStart(6, "0")}`;
const TOKEN = "0123456789abcdef0123456789abcdef";
const SETTLE_MS = 5000;
const WINDOW_MS = 5000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

if (process.send === undefined) await measure(Number(process.argv[2] ?? 2000), Number(process.argv[3] ?? 60));
else await write(process.argv[2], Number(process.argv[3]));

/** The other process: it holds some of the sessions and appends on request. */
async function write(folder, count) {
  const store = fileStore(folder);
  const logs = [];
  for (let number = 0; number < count; number += 1)
    logs.push(await store.open(idOf(number), { mode: "write" }));
  process.on("message", (round) => {
    const log = logs[round % logs.length];
    void log.append([
      { type: "notice", code: "bench", message: String(performance.timeOrigin + performance.now()) },
    ]);
  });
  process.send("holding");
}

async function measure(sessions, seconds) {
  const home = mkdtempSync(join(tmpdir(), "throughline-followers-"));
  const folder = join(home, "sessions");
  try {
    mkdirSync(folder, { mode: 0o700 });
    const agent = createAgent({ model: emulator() });
    const store = fileStore(folder);
    const session = await agent.open({ id: idOf(0), store });
    await session.send("Hello").text();
    await session.close();
    for (let number = 1; number < sessions; number += 1)
      cpSync(join(folder, `${idOf(0)}.jsonl`), join(folder, `${idOf(number)}.jsonl`));
    const delays = [];
    const stop = new AbortController();
    const following = [];
    for (let number = 0; number < sessions; number += 1) {
      const reader = await agent.open({ id: idOf(number), store, mode: "read" });
      following.push(follow(reader, stop.signal, delays));
    }
    await pause(SETTLE_MS);
    const idle = await share(seconds);
    const writers = Math.min(sessions, 500);
    const child = fork(import.meta.filename ?? new URL(import.meta.url).pathname, [folder, String(writers)]);
    await new Promise((done) => child.once("message", done));
    await pause(SETTLE_MS);
    const held = await share(seconds);
    for (let round = 0; round < 400; round += 1) {
      child.send(round);
      await pause(10);
    }
    while (delays.length < 400) await pause(10);
    child.kill("SIGKILL");
    stop.abort();
    await Promise.all(following);
    delays.sort((a, b) => a - b);
    const at = (part) => delays[Math.min(delays.length - 1, Math.floor(delays.length * part))].toFixed(1);
    process.stdout.write(
      `${sessions} sessions followed. Of a core at rest: ${idle} without writers, ${held} with ${writers} held elsewhere\n` +
        `from the append in another process to the follower: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${delays.length} events)\n`,
    );
    const streams = Math.min(sessions, 1990);
    process.stdout.write(`serve with ${streams} streams at rest: ${await served(home, streams, seconds)}\n`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function follow(reader, signal, delays) {
  for await (const event of reader.follow({ after: reader.lastSeq, signal })) {
    if (event.type !== "notice" || event.code !== "bench") continue;
    delays.push(performance.timeOrigin + performance.now() - Number(event.message));
  }
  await reader.close();
}

/** The server in its own process, as shipped. */
async function served(home, streams, seconds) {
  const cli = new URL("../dist/cli/main.js", import.meta.url).pathname;
  const child = spawn(process.execPath, [cli, "serve", "--port", "0"], {
    env: { PATH: process.env.PATH, HOME: home, THROUGHLINE_HOME: home, THROUGHLINE_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const { origin } = new URL(String(await new Promise((done) => child.stdout.once("data", done))).trim());
    const agent = new Agent({ maxSockets: Infinity });
    for (let number = 0; number < streams; number += 1) {
      await new Promise((done, fail) => {
        const headers = { authorization: `Bearer ${TOKEN}` };
        const asked = get(`${origin}/api/sessions/${idOf(number)}/events`, { agent, headers });
        asked.on("error", fail);
        asked.on("response", (response) => {
          response.on("error", () => undefined); // the server is killed at the end
          response.on("data", (text) => String(text).includes("event: live") && done());
        });
      });
    }
    await pause(SETTLE_MS);
    return await share(seconds, () => cpuOf(child.pid));
  } finally {
    child.kill("SIGKILL");
  }
}

/** The processor time of all its threads, in milliseconds. */
function cpuOf(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

function ownCpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function share(seconds, cpu = ownCpu) {
  const shares = [];
  for (let left = seconds * 1000; left > 0; left -= WINDOW_MS) {
    const [from, began] = [cpu(), performance.now()];
    await pause(WINDOW_MS);
    shares.push(((cpu() - from) / (performance.now() - began)) * 100);
  }
  const mean = shares.reduce((sum, one) => sum + one, 0) / shares.length;
  const median = shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)];
  return `${mean.toFixed(2)} % (median ${median.toFixed(2)} %)`;
}
