/**
 * What sessions cost while nothing happens in them: one process opens 10,000 of them to write, then another follows as
 * many. Prints connections, timers, processor time of node and server, and memory. Needs `npm run build` and PostgreSQL.
 *
 *   node --import tsx bench/postgres/idle.mjs [sessions=10000] [seconds=30]
 *
 * @module
 */
import { startDatabase } from "./database.mjs";
import { library, machine, number, pause, report, say, start } from "./figures.mjs";

const [sessions = 10_000, seconds = 30] = process.argv.slice(2).map(Number);
const FEW = 10;
const SETTLE_MS = 5000;

const { createAgent, emulator, memoryStore, postgresStore } = await library();
const database = await startDatabase();
try {
  say(`making ${sessions} sessions of one turn each`);
  const ids = await make(sessions);
  const rows = [];
  for (const [kind, figure] of [
    ["hold", "open to write"],
    ["follow", "followed"],
  ]) {
    const { few, all, connections, server, openMs } = await measure(kind, ids);
    const cpu = (all.cpuMs / (seconds * 1000)) * 100;
    const each = (field) => number((all[field] - few[field]) / (sessions - FEW) / 1024, 1);
    rows.push(
      {
        figure: `${sessions.toLocaleString("en-GB")} idle sessions ${figure}: connections`,
        target: "≤ 7",
        measured: String(connections),
        met: connections <= 7,
      },
      {
        figure: "… timers, and with 10 sessions",
        target: "as many",
        measured: `${all.timers}, ${few.timers}`,
        met: all.timers <= few.timers + 2,
      },
      { figure: "… processor of the node", target: "< 5 %", measured: `${number(cpu, 1)} %`, met: cpu < 5 },
      { figure: "… processor of the server", measured: `${number(server, 1)} %` },
      { figure: "… memory of a session", measured: `${each("heapUsed")} KB heap, ${each("rss")} KB RSS` },
      { figure: "… opened in", measured: `${number(openMs / 1000, 1)} s` },
    );
  }
  report(`PostgreSQL ${database.version}, ${database.settings}; ${machine()}; ${seconds} s`, rows);
} finally {
  await database.close();
}

/** Copies of a session with one real turn. */
async function make(count) {
  const memory = memoryStore();
  const session = await createAgent({ model: emulator() }).open({ store: memory, id: "template" });
  await session.send("Hello").result();
  await session.close();
  const log = await memory.open("template", { mode: "read" });
  const store = postgresStore(database.url);
  const made = Array.from({ length: count }, (_, n) => `idle_${n}`);
  for (const id of made) {
    const events = log.events.map(({ v: _v, seq: _seq, epoch: _epoch, ...event }) =>
      event.type === "session_start" ? { ...event, session: id, root: id } : event,
    );
    await store.create(id, { events, blobs: new Map() });
  }
  await store.close();
  await database.sql("vacuum analyze");
  return made;
}

async function measure(kind, ids) {
  const node = start("idle-node.mjs", [database.url], { execArgv: ["--expose-gc"] });
  await node.ask(kind, ids.slice(0, FEW));
  await pause(SETTLE_MS);
  const few = await node.ask("figures");
  const began = performance.now();
  await node.ask(kind, ids.slice(FEW));
  const openMs = performance.now() - began;
  say(`${kind}: opened in ${number(openMs / 1000, 1)} s`);
  await pause(SETTLE_MS);
  await node.ask("figures");
  const cpu = database.cpuMs();
  await pause(seconds * 1000);
  const serverMs = database.cpuMs() - cpu;
  const all = await node.ask("figures");
  const [{ n }] = await database.sql(
    "select count(*)::int as n from pg_stat_activity where application_name = 'throughline'",
  );
  say(
    `${kind}: ${JSON.stringify({ few, all, connections: n, server: serverMs / seconds / 10 })}; ${machine()}`,
  );
  await node.ask("close");
  node.child.disconnect();
  await node.ended;
  return { few, all, connections: n, server: serverMs / seconds / 10, openMs };
}
