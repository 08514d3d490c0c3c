/**
 * One node of live.mjs in its own process. A holder writes deltas and appends; a viewer follows the same sessions and
 * measures how long each delta took. Both read the same monotonic clock of the machine.
 *
 *   node live-node.mjs URL DIRECT_URL|"" NAME
 *
 * @module
 */
import { library, serve } from "./figures.mjs";

const [url, directUrl, name] = process.argv.slice(2);
const { postgresStore } = await library();
const store = postgresStore(url, { name, ...(directUrl === "" ? {} : { directUrl }) });
/** Ticks that share the sessions, so that not all of them write in the same millisecond. */
const PHASES = 10;
const DELTA = "delta".repeat(4);
const APPEND_TEXT = "x".repeat(500);

const now = () => Number(process.hrtime.bigint()) / 1e6;
let logs = [];
let timers = [];
let cpu = process.cpuUsage();
let deltas = [];
let seen = 0;
let appends = [];
let written = 0;
const ends = new AbortController();

serve({
  async hold(ids) {
    logs = await Promise.all(ids.map((id) => store.open(id, { mode: "write" })));
    await Promise.all(
      logs.map((log) =>
        log.append([
          {
            type: "user_message",
            turn: "tn_bench",
            by: "person",
            content: [{ type: "text", text: "Begin." }],
          },
        ]),
      ),
    );
  },
  /** `perSecond` deltas of every session, `appendsPerSecond` over all of them, a new response every `responseMs`. */
  write({ perSecond, appendsPerSecond, responseMs }) {
    if (perSecond > 0)
      everyTick(1000 / perSecond / PHASES, (tick) => {
        for (let n = tick % PHASES; n < logs.length; n += PHASES) {
          logs[n].scratch.write([JSON.stringify([now(), DELTA])]);
          written += 1;
        }
      });
    if (perSecond > 0)
      everyTick(responseMs / logs.length, (tick) => logs[tick % logs.length].scratch.clear());
    everyTick(1000 / appendsPerSecond, async (tick) => {
      const from = now();
      await logs[tick % logs.length].append([
        { type: "notice", code: "bench", message: APPEND_TEXT, turn: "tn_bench" },
      ]);
      appends.push(now() - from);
    });
  },
  rest() {
    for (const timer of timers) clearInterval(timer);
    timers = [];
  },
  async follow(ids) {
    logs = await Promise.all(ids.map((id) => store.open(id, { mode: "read" })));
    for (const log of logs) void read(log);
  },
  reset() {
    cpu = process.cpuUsage();
    deltas = [];
    seen = 0;
    appends = [];
    written = 0;
  },
  figures() {
    const { user, system } = process.cpuUsage(cpu);
    return { cpuMs: (user + system) / 1000, deltas, seen, appends, written };
  },
  async close() {
    ends.abort();
    await Promise.all(logs.map((log) => log.close()));
    await store.close();
  },
});

/** Ticks that a late timer missed are made up for, so that the rate is the one that was asked for. */
function everyTick(ms, work) {
  const began = now();
  let tick = 0;
  timers.push(
    setInterval(() => {
      for (const due = (now() - began) / ms; tick < due; tick += 1) void work(tick);
    }, ms),
  );
}

async function read(log) {
  for await (const { rows } of log.changes(ends.signal)) {
    const at = now();
    for (const row of rows) {
      seen += 1;
      deltas.push(at - JSON.parse(row)[0]);
    }
  }
}
