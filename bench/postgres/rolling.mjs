/**
 * A rolling upgrade: three `throughline serve` on one database, 200 sessions with a turn each at all times. Each node is
 * ended with SIGTERM and replaced, one after the other. A client asks any node, and another one if that does not answer.
 * Counts the turns that were promised (202) and did not complete. Needs `npm run build` and PostgreSQL.
 *
 *   node --import tsx bench/postgres/rolling.mjs [sessions=200] [drain=2] [paceMs=250]
 *
 * A turn takes some 20 s, longer than a node has to drain, so most turns of a node are handed over.
 *
 * @module
 */
import { startDatabase } from "./database.mjs";
import { latency, machine, number, pause, report, say } from "./figures.mjs";
import { startProvider } from "./provider.mjs";
import { startNode } from "./serve-node.mjs";

const TURN_MS = 20_000;
const NODES = 3;
/** How long after the last replacement every turn must have ended. */
const MOST_MS = 120_000;

const [sessions = 200, drain = 2, paceMs = 250] = process.argv.slice(2).map(Number);
const database = await startDatabase();
const provider = await startProvider({ deltas: Math.round(TURN_MS / paceMs), paceMs });
const nodes = [];
const turns = [];
const counts = { retried: 0 };
const ends = new AbortController();
let made = 0;

try {
  for (let n = 0; n < NODES; n += 1) nodes.push(await started());
  const clients = Array.from({ length: sessions }, (_, n) => client(`s${n}`, (n / sessions) * TURN_MS));
  await allStream();
  const began = performance.now();
  const left = [];
  for (let n = 0; n < NODES; n += 1) {
    const [node] = nodes.splice(0, 1);
    const from = performance.now();
    const open = provider.streams;
    node.signal("SIGTERM");
    const { code, signal } = await node.ended;
    left.push(performance.now() - from);
    say(
      `${node.name} left after ${number(left.at(-1) / 1000, 1)} s (${signal ?? code}), ${open} turns streaming; ${machine()}`,
    );
    nodes.push(await started());
    await allStream();
  }
  const elapsed = performance.now() - began;
  ends.abort();
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, MOST_MS);
  });
  await Promise.race([Promise.all(clients), late]);
  clearTimeout(timer);
  await print(elapsed, left);
} finally {
  for (const node of nodes) node.signal("SIGKILL");
  provider.close();
  await database.close();
}

/** Nearly all: some turns have just ended. */
async function allStream() {
  for (let waited = 0; provider.streams < sessions * 0.9 && waited < MOST_MS; waited += 100) await pause(100);
}

function started() {
  made += 1;
  return startNode(`node-${made}`, { url: database.url, provider, drain, permissions: "auto" });
}

/** Asks nodes in turn until one of them answers. The id of the turn makes it the same request every time. */
async function anywhere(path, body) {
  for (let tries = 0; ; tries += 1) {
    const node = nodes[Math.floor(Math.random() * nodes.length)];
    try {
      return await node.ask(path, body);
    } catch (error) {
      if (tries > 300) throw error;
      counts.retried += 1;
      await pause(100);
    }
  }
}

async function client(id, waitMs) {
  await pause(waitMs);
  await anywhere("/sessions", { id });
  for (let n = 0; !ends.signal.aborted; n += 1) {
    const turn = { id, turn: `${id}_${n}`, asked: performance.now() };
    await anywhere(`/sessions/${id}/turns`, { input: `stream ${id}`, turn: turn.turn });
    turns.push(turn);
    while (turn.result === undefined) {
      const { result } = await anywhere(`/sessions/${id}/turns/${turn.turn}?wait=10`);
      turn.result = result;
    }
    turn.ms = performance.now() - turn.asked;
  }
}

async function print(elapsed, left) {
  const lost = turns.filter(({ result }) => result?.status !== "completed");
  for (const { turn, result } of lost.slice(0, 10)) say(`not completed: ${turn} ${JSON.stringify(result)}`);
  const requests = turns.reduce((most, { id }) => most.add(id), new Set());
  const all = [...requests].reduce((sum, id) => sum + provider.count("request", id), 0);
  const [{ doubled }] = await database.sql(
    `select count(*)::int as doubled from (select session, line::json->>'turn' as turn from s.events
      where line::json->>'type' = 'turn_end' group by 1, 2 having count(*) > 1) x`,
  );
  const times = latency(turns.flatMap(({ ms }) => (ms === undefined ? [] : [ms])));
  report(
    `${sessions} sessions on ${NODES} nodes, each ended (--drain ${drain}) and replaced in turn, in ${number(elapsed / 1000, 0)} s; PostgreSQL ${database.version}; ${machine()}`,
    [
      {
        figure: "turns promised, and lost",
        target: "0 lost",
        measured: `${turns.length}, ${lost.length}`,
        met: lost.length === 0,
      },
      { figure: "… ended twice", target: "0", measured: String(doubled), met: doubled === 0 },
      { figure: "… continued on another node", measured: `${all - turns.length} further requests` },
      {
        figure: "… duration",
        measured: `p50 ${number(times.p50 / 1000, 1)} s, p99 ${number(times.p99 / 1000, 1)} s`,
      },
      { figure: "requests of clients that another node answered", measured: String(counts.retried) },
      {
        figure: "a node left after",
        measured: left.map((ms) => `${number(ms / 1000, 1)} s`).join(", "),
      },
    ],
  );
}
