/**
 * The cost of a server at rest: `throughline serve` in its own process, with a client that follows every session.
 * Linux only: it reads /proc.
 *
 * @module
 */
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { start } from "./processes.mjs";
import { median } from "./statistics.mjs";

const TOKEN = "0123456789abcdef0123456789abcdef";
const WINDOW_MS = 5000;
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export function idOf(number) {
  return `s_${String(number).padStart(6, "0")}`;
}

/** Small equal sessions in `home`/sessions. */
export async function writeSessions({ createAgent, emulator, fileStore }, home, sessions) {
  const folder = join(home, "sessions");
  mkdirSync(folder, { mode: 0o700 });
  const session = await createAgent({ model: emulator() }).open({ id: idOf(0), store: fileStore(folder) });
  await session.send("Hello").text();
  await session.close();
  for (let number = 1; number < sessions; number += 1)
    cpSync(join(folder, `${idOf(0)}.jsonl`), join(folder, `${idOf(number)}.jsonl`));
  return folder;
}

/** The share of a core that the server takes, in per cent, and its memory. */
export async function idleServerSample(node, libraryPath, { folder, sessions, settle, seconds }) {
  const library = await import(pathToFileURL(libraryPath).href);
  await writeSessions(library, folder, sessions);
  const server = await startFollowed(node, libraryPath, { home: folder, streams: sessions });
  try {
    await pause(settle * 1000);
    const { mean, middle } = await shareOf(seconds, server.cpu);
    return { share: mean, medianShare: middle, rssMb: server.rssMb(), totals: { streams: server.open() } };
  } finally {
    await server.end();
  }
}

/** The server as shipped, with an idle stream for each session. */
export async function startFollowed(node, libraryPath, { home, streams }) {
  const cli = join(dirname(libraryPath), "cli/main.js");
  const child = start(node, [cli, "serve", "--port", "0"], {
    env: { PATH: process.env.PATH, HOME: home, THROUGHLINE_HOME: home, THROUGHLINE_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise((done) => child.once("exit", done));
  const agent = new Agent({ maxSockets: Infinity });
  let open = 0;
  const end = async () => {
    child.kill("SIGKILL");
    agent.destroy();
    await ended;
  };
  try {
    const said = await Promise.race([
      new Promise((done) => child.stdout.once("data", done)),
      ended.then(() => Promise.reject(new Error("the server ended at its start"))),
    ]);
    const { origin } = new URL(String(said).trim());
    for (let number = 0; number < streams; number += 1) {
      await follow(`${origin}/api/sessions/${idOf(number)}/events`, agent, () => (open -= 1));
      open += 1;
    }
    return { cpu: () => cpuOf(child.pid), rssMb: () => rssOf(child.pid), open: () => open, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Resolves when the stream has sent all that there is and is live. */
function follow(url, agent, onEnd) {
  return new Promise((done, fail) => {
    const asked = get(url, { agent, headers: { authorization: `Bearer ${TOKEN}` } });
    asked.on("error", fail);
    asked.on("response", (response) => {
      if (response.statusCode !== 200) fail(new Error(`a stream was refused: ${response.statusCode}`));
      response.on("error", () => undefined); // the server is killed at the end
      response.on("close", onEnd);
      response.on("data", (text) => String(text).includes("event: live") && done());
    });
  });
}

/** The processor time of all its threads, in milliseconds. */
function cpuOf(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

function rssOf(pid) {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

/**
 * The share of a core, in per cent. The median of windows is given too, because V8 collects garbage once, some seconds
 * after a burst of work.
 */
export async function shareOf(seconds, cpu) {
  const shares = [];
  for (let left = seconds * 1000; left > 0; left -= WINDOW_MS) {
    const [from, began] = [cpu(), performance.now()];
    await pause(Math.min(left, WINDOW_MS));
    shares.push(((cpu() - from) / (performance.now() - began)) * 100);
  }
  const mean = shares.reduce((sum, one) => sum + one, 0) / shares.length;
  return { mean, middle: median(shares) };
}
