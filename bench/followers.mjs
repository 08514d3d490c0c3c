/**
 * What following many sessions of other processes costs: node bench/followers.mjs [sessions] [seconds]
 * Makes that many small sessions, follows all of them in this process, and prints the share of a core that takes at rest,
 * without writers and with live ones elsewhere; then how long an event takes from its append in another process to the
 * follower. Needs `npm run build`.
 */
import { fork } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { createAgent, emulator, fileStore } = await import(new URL("../dist/index.js", import.meta.url).href);

const idOf = (number) => `s_${String(number).padStart(6, "0")}`;
/** V8 collects several times some seconds after a burst of work: half a second of processor time that is not rest. */
const SETTLE_MS = 20_000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

if (process.send === undefined) await measure(Number(process.argv[2] ?? 2000), Number(process.argv[3] ?? 10));
else await write(process.argv[2], Number(process.argv[3]));

/** The other process: holds some of the sessions, and appends when told to. */
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
      `${sessions} sessions followed. Of a core at rest: ${idle} % without writers, ${held} % with ${writers} held elsewhere\n` +
        `from the append in another process to the follower: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${delays.length} events)\n`,
    );
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

async function share(seconds) {
  const from = process.cpuUsage();
  const began = performance.now();
  await pause(seconds * 1000);
  const { user, system } = process.cpuUsage(from);
  return ((user + system) / 10 / (performance.now() - began)).toFixed(2);
}
