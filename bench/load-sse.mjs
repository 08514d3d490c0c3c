/**
 * Loads the server: 200 clients follow the event streams of 50 sessions that are always in a turn. 20 of the clients are
 * too slow. Prints the memory of the server process every minute. Run `npm run build` first.
 *
 *   node bench/load-sse.mjs [minutes=10] [clients=200] [sessions=50] [slow=20] [turns=20]
 *
 * `turns` is the number of turns of a session. Then a new session replaces it, and its clients move over once they have
 * read all of it. With 0, the same sessions run all the time and their logs keep growing; a writer holds its log in memory.
 *
 * A slow client stops reading its socket. The kernel buffers some megabytes; then the server's own backlog grows, and at
 * its limit the server drops the client. The client reads the rest, reconnects with Last-Event-ID, and must have received
 * every event exactly once. The sessions of slow clients send faster, so that their backlogs fill up.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [minutes = 10, clients = 200, sessions = 50, slow = 20, turnsEach = 20] = process.argv
  .slice(2)
  .map(Number);
const slowSlots = Math.ceil(slow / 4);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = mkdtempSync(join(tmpdir(), "throughline-load-"));
const token = "load".repeat(16);
const cli = process.env.THROUGHLINE_CLI ?? join(root, "dist/cli/main.js");
const ending = new AbortController();
const over = () => ending.signal.aborted;
const SLOW_MS = 150_000;
const RETURN_MS = 500;

const firstLine = (child) =>
  new Promise((resolve) => {
    child.stdout.once("data", (data) => resolve(String(data).trim()));
  });
const run = (env, ...args) =>
  spawn(process.execPath, [cli, ...args], { cwd: home, env, stdio: ["ignore", "pipe", "ignore"] });

/** Separate processes: an emulator keeps every request it receives, and its memory must not be counted. */
const scenario = join(home, "wordy.json");
const text = "A river gathers what its valley gives it and carries it down to the sea. ".repeat(200);
writeFileSync(scenario, JSON.stringify({ steps: [{ output: [{ message: text }] }], afterwards: "repeat" }));
const plain = run(process.env, "emulator", "--port", "0", "--quiet", "--pace", "12");
const wordy = run(process.env, "emulator", "--port", "0", "--quiet", "--pace", "2", "--scenario", scenario);
const server = run(
  {
    ...process.env,
    NODE_OPTIONS: process.env.SERVER_NODE_OPTIONS ?? "",
    THROUGHLINE_HOME: home,
    THROUGHLINE_TOKEN: token,
    OPENAI_BASE_URL: await firstLine(plain),
    OPENAI_API_KEY: "emulator",
    ANTHROPIC_BASE_URL: (await firstLine(wordy)).replace(/\/v1$/, ""),
    ANTHROPIC_API_KEY: "emulator",
  },
  "serve",
  "--port",
  "0",
  "--permissions",
  "auto",
  "-m",
  "openai/emu-reasoner",
);
for (const child of [server, plain, wordy])
  child.once("exit", (code) => {
    if (over()) return;
    process.stderr.write(`${child.spawnargs.slice(2).join(" ")} ended with ${code}\n`);
    process.exit(1);
  });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
process.on("exit", () => {
  for (const child of [server, plain, wordy]) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});
const port = Number(/:(\d+)\//.exec(await firstLine(server))[1]);
const authorization = `Bearer ${token}`;

const counts = {
  events: 0,
  turns: 0,
  failed: 0,
  sessions: 0,
  dropped: 0,
  caughtUp: 0,
  otherwiseClosed: 0,
  missing: 0,
};

/** Sent again if the connection was closed at the moment it was reused. This is safe, because turns have an id. */
async function ask(path, body) {
  const once = () =>
    fetch(`http://127.0.0.1:${port}/api/sessions${path}`, {
      headers: { authorization, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  const response = await once().catch(once).catch(once).catch(once);
  const answer = await response.json();
  if (answer.error !== undefined) throw new Error(`${path}: ${answer.error.message}`);
  return answer;
}

/** A slot for a session. `last` is set when the session has had all its turns. */
const slots = Array.from({ length: sessions }, (_, number) => ({ number, session: undefined }));
const followers = new Set();

/** Runs turns one after the other until the end of the run. */
async function keepBusy(slot) {
  for (let generation = 0; !over(); generation += 1) {
    const session = { id: `s${slot.number}-${generation}`, last: undefined };
    const model = slot.number < slowSlots ? { model: "anthropic/emu-claude" } : {};
    await ask("", { id: session.id, ...model });
    counts.sessions += 1;
    slot.session = session;
    for (let left = turnsEach || Infinity; left > 0 && !over(); left -= 1) await oneTurn(session.id);
    session.last = (await ask(`/${session.id}`)).lastSeq;
    for (const follower of followers) follower.look();
  }
}

async function oneTurn(id) {
  const turn = `t${counts.turns}-${Math.random().toString(36).slice(2)}`;
  await ask(`/${id}/turns`, { input: "Tell me something about rivers.", turn });
  for (;;) {
    const { state, result } = await ask(`/${id}/turns/${turn}?wait=20`);
    if (state !== "done") continue;
    counts.turns += 1;
    if (result.status !== "completed" && !over()) counts.failed += 1;
    return;
  }
}

/** Reads the sessions of a slot one after the other, each to its last event. */
class Follower {
  #slot;
  #slow;
  #session;
  #after = -1;
  #request;
  #wasDropped = false;

  constructor(slot, isSlow) {
    this.#slot = slot;
    this.#slow = isSlow;
    this.#session = slot.session;
    this.#connect();
  }

  /** Moves to the next session when this one is read to its end and there is another. */
  look() {
    const { last } = this.#session;
    if (last === undefined || this.#after < last) return;
    if (this.#slot.session === this.#session) {
      setTimeout(() => this.look(), RETURN_MS);
      return;
    }
    this.#session = this.#slot.session;
    this.#after = -1;
    this.#wasDropped = false;
    this.#request.removeAllListeners("close");
    this.#request.destroy();
    this.#connect();
  }

  #connect() {
    if (over()) return;
    const session = this.#session;
    let rest = "";
    const asking = request({
      port,
      host: "127.0.0.1",
      path: `/api/sessions/${session.id}/events`,
      headers: { authorization, ...(this.#after < 0 ? {} : { "last-event-id": String(this.#after) }) },
    });
    this.#request = asking;
    let sleeping;
    asking.on("response", (response) => {
      response.setEncoding("utf8");
      response.on("error", () => undefined);
      response.on("data", (piece) => {
        rest += piece;
        const frames = rest.split("\n\n");
        rest = frames.pop();
        for (const frame of frames) if (this.#session === session) this.#see(frame);
      });
      if (!this.#slow) return;
      const sleep = () => {
        response.pause();
        sleeping = setTimeout(() => {
          response.resume();
          sleeping = setTimeout(sleep, 5000);
        }, SLOW_MS);
      };
      response.once("data", sleep);
    });
    asking.on("error", () => undefined);
    asking.on("close", () => {
      clearTimeout(sleeping);
      if (over() || this.#session !== session) return;
      this.#wasDropped = this.#slow;
      counts[this.#slow ? "dropped" : "otherwiseClosed"] += 1;
      setTimeout(() => this.#connect(), RETURN_MS);
    });
    asking.end();
  }

  #see(frame) {
    counts.events += 1;
    const seq = /^id: (\d+)$/m.exec(frame)?.[1];
    if (seq === undefined) return;
    if (Number(seq) !== this.#after + 1) counts.missing += 1;
    else if (this.#wasDropped) counts.caughtUp += 1;
    this.#wasDropped = false;
    this.#after = Number(seq);
    this.look();
  }
}

const status = () => readFileSync(`/proc/${server.pid}/status`, "utf8");
const memory = () => Number(/VmRSS:\s+(\d+)/.exec(status())[1]) / 1024;

const busy = slots.map((slot) => keepBusy(slot));
const start = Date.now();
const minute = [];
/** Reached when there were twice as many sessions as slots: by then, sessions of every length run. */
let steady;
const report = setInterval(() => {
  const at = (Date.now() - start) / 60_000;
  if (at >= minute.length + 1) minute.push(memory());
  if (steady === undefined && counts.sessions >= 2 * sessions) steady = { at, rss: memory() };
  if (Math.round(at * 4) % 4 === 0 || minutes < 3)
    process.stdout.write(`${at.toFixed(2)} min  RSS ${memory().toFixed(1)} MB  ${JSON.stringify(counts)}\n`);
}, 15_000);
while (slots.some(({ session }) => session === undefined))
  await new Promise((resolve) => setTimeout(resolve, 100));
for (let n = 0; n < clients; n += 1) {
  const isSlow = n < slow;
  const at = isSlow ? n % slowSlots : slowSlots + (n % (sessions - slowSlots));
  followers.add(new Follower(slots[at], isSlow));
}
await Promise.race([new Promise((resolve) => setTimeout(resolve, minutes * 60_000)), Promise.all(busy)]);
clearInterval(report);
ending.abort();
const [one = 0] = minute;
process.stdout.write(
  `RSS after each minute: ${minute.map((mb) => mb.toFixed(1)).join(", ")} MB; now ${memory().toFixed(1)} MB, ${(memory() - one).toFixed(1)} MB more than after the first${steady === undefined ? "" : `, ${(memory() - steady.rss).toFixed(1)} MB more than when it was warm (${steady.at.toFixed(1)} min, ${steady.rss.toFixed(1)} MB)`}; ${JSON.stringify(counts)}\n`,
);
server.kill("SIGINT");
await new Promise((resolve) => {
  server.once("exit", resolve);
});
process.exit(counts.missing > 0 || counts.failed > 0 ? 1 : 0);
