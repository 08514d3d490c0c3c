/**
 * Measures the cost of following many sessions of other processes: node bench/followers.mjs [sessions] [seconds]
 * Creates small sessions, follows all of them in this process, and prints the share of a core that this takes at rest,
 * without writers and with live writers in another process. Then it prints the time from an append in another process to
 * the follower, and the share of a core that `serve` takes with an idle stream for each session. Shares are the mean and
 * the median of windows of five seconds, because V8 collects garbage once, some seconds after a burst of work. Linux
 * only; needs `npm run build`.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { idOf, pause, shareOf, startFollowed, writeSessions } from "./idle-server.mjs";

const LIBRARY = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const library = await import(new URL("../dist/index.js", import.meta.url).href);
const { createAgent, emulator, fileStore } = library;
const SETTLE_MS = 5000;

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
  try {
    const folder = await writeSessions(library, home, sessions);
    const agent = createAgent({ model: emulator() });
    const store = fileStore(folder);
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
    const child = fork(fileURLToPath(import.meta.url), [folder, String(writers)]);
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

async function served(home, streams, seconds) {
  const server = await startFollowed(process.execPath, LIBRARY, { home, streams });
  try {
    await pause(SETTLE_MS);
    return await share(seconds, server.cpu);
  } finally {
    await server.end();
  }
}

function ownCpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function share(seconds, cpu = ownCpu) {
  const { mean, middle } = await shareOf(seconds, cpu);
  return `${mean.toFixed(2)} % (median ${middle.toFixed(2)} %)`;
}
