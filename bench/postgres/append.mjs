/**
 * What an append costs: the store's guarded append against a bare insert, and appends of many sessions in one statement
 * against one statement each. All kinds take a round in turn, then all again; the figures are medians over the rounds.
 * Needs `npm run build` and PostgreSQL.
 *
 *   node --import tsx bench/postgres/append.mjs [rounds=5] [seconds=3]
 *
 * - **Bare insert**: `pg`, prepared, one connection, a table like that of the events, nothing checked.
 * - **Guarded append**: `log.append` of a session of `postgresStore`, from the call until it resolves: stamp, checksum,
 *   facts, statement, commit.
 * - **Single guarded appends**: the store's own statement for one session, prepared, on eight connections; its line is made
 *   beforehand. This is what the store would do without its group append.
 *
 * All sessions have an open turn, as they have when they append. Lines are random text, so that nothing shrinks them. On
 * a machine that does other work the rates are low and noisy; the processor time of an append is not.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { statementsFor } from "../../src/runtime/postgres/statements.ts";
import { startDatabase } from "./database.mjs";
import { latency, library, machine, number, over, report, say } from "./figures.mjs";

const LINE_BYTES = 1900;
const ONE_BY_ONE = 1500;
const CONNECTIONS = 8;

const [rounds = 5, seconds = 3] = process.argv.slice(2).map(Number);
const { postgresStore } = await library();
const database = await startDatabase();
const { sql, schema, url } = database;
/** What the library adds to the text of a notice. */
const FRAME_BYTES = 175;
const statements = statementsFor(schema);
const text = randomBytes(LINE_BYTES)
  .toString("base64")
  .slice(0, LINE_BYTES - FRAME_BYTES);
const line = randomBytes(LINE_BYTES).toString("base64").slice(0, LINE_BYTES);
const TURN = "tn_bench";
let made = 0;
const newId = (prefix) => `${prefix}_${(made += 1)}`;

await sql(
  `create table s.bare (tenant text collate "C" not null, session text collate "C" not null, seq bigint not null,
     line text not null, primary key (tenant, session, seq))`,
);
const kinds = {
  disk: () => diskRound(),
  bare: () => oneByOne(bareInsert),
  guarded: () => oneByOne(guardedAppend),
  bare32: () => manyInserts(32),
  alone32: () => singleAppends(32, groupOfOne),
  single32: () => singleAppends(32),
  group32: () => groupAppends(32),
  single200: () => singleAppends(200),
  group200: () => groupAppends(200),
};
const results = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
try {
  for (let round = 1; round <= rounds; round += 1) {
    for (const [kind, run] of Object.entries(kinds)) {
      await sql("checkpoint"); // else the first writes after one pay for those before them
      const result = await run();
      results[kind].push(result);
      say(
        `round ${round} ${kind}: ${number(result.rate, 0)}/s, p50 ${number(result.p50)} ms, p99 ${number(result.p99)} ms, ${cpuText(result)}; ${machine()}`,
      );
    }
  }
  const hot = await sql(
    `select n_tup_upd::text as all, n_tup_hot_upd::text as hot from pg_stat_user_tables
      where schemaname = '${schema}' and relname = 'sessions'`,
  );
  print(hot[0]);
} finally {
  await database.close();
}

/** The disk under the database: what no durable append can beat. */
function diskRound() {
  const file = openSync(join(database.folder ?? tmpdir(), "bench.disk"), "w");
  const times = [];
  const end = begin();
  for (let n = 0; n < 500; n += 1) {
    const from = performance.now();
    writeSync(file, line);
    fdatasyncSync(file);
    times.push(performance.now() - from);
  }
  closeSync(file);
  return figures(times, end());
}

async function oneByOne(open) {
  const { append, close } = await open();
  for (let n = 0; n < 100; n += 1) await append(); // connections, prepared statements, code
  const times = [];
  const end = begin();
  for (let n = 0; n < ONE_BY_ONE; n += 1) {
    const from = performance.now();
    await append();
    times.push(performance.now() - from);
  }
  const used = end();
  await close();
  return figures(times, used);
}

/** Returns a function that says how much time went by, and how much processor time of this process and the server. */
function begin() {
  const [at, client, server] = [performance.now(), process.cpuUsage(), database.cpuMs()];
  return () => {
    const { user, system } = process.cpuUsage(client);
    return {
      elapsedMs: performance.now() - at,
      clientMs: (user + system) / 1000,
      serverMs: server === undefined ? undefined : database.cpuMs() - server,
    };
  };
}

async function bareInsert() {
  const client = await database.connect();
  const session = newId("bare");
  let seq = 0;
  return {
    append: () => client.query(insert(session, seq++)),
    close: () => client.end(),
  };
}

function insert(session, seq) {
  return {
    name: "bare",
    text: `insert into "${schema}".bare (tenant, session, seq, line) values ($1, $2, $3, $4)`,
    values: ["", session, seq, line],
  };
}

async function guardedAppend() {
  const store = postgresStore(url);
  const log = await openTurn(store, newId("one"));
  return {
    append: () => log.append([draft()]),
    async close() {
      await log.close();
      await store.close();
    },
  };
}

async function openTurn(store, id) {
  const log = await store.open(id, { mode: "write" });
  const content = [{ type: "text", text: "Begin." }];
  await log.append([{ type: "user_message", turn: TURN, by: "person", content }]);
  return log;
}

function draft() {
  return { type: "notice", code: "bench", message: text, turn: TURN };
}

/** Sessions that append one after the other as fast as they can, for a while. */
async function closedLoop(appends) {
  const times = [];
  let counting = false;
  const ends = new AbortController();
  const loops = appends.map(async (append) => {
    while (!ends.signal.aborted) {
      const from = performance.now();
      await append();
      if (counting) times.push(performance.now() - from);
    }
  });
  await wait(500); // connections, prepared statements, code
  counting = true;
  const end = begin();
  await wait(seconds * 1000);
  counting = false;
  const used = end();
  ends.abort();
  await Promise.all(loops);
  return figures(times, used);
}

async function groupAppends(sessions) {
  const store = postgresStore(url);
  const logs = [];
  for (let n = 0; n < sessions; n += 1) logs.push(await openTurn(store, newId("group")));
  const result = await closedLoop(logs.map((log) => () => log.append([draft()])));
  await Promise.all(logs.map((log) => log.close()));
  await store.close();
  return result;
}

/** Every append takes the next free connection. */
async function onConnections(work) {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => database.connect()));
  const free = [...clients];
  const queue = [];
  const result = await work(async (query) => {
    const client = free.pop() ?? (await new Promise((resolve) => queue.push(resolve)));
    try {
      return await client.query(query);
    } finally {
      const next = queue.shift();
      if (next === undefined) free.push(client);
      else next(client);
    }
  });
  await Promise.all(clients.map((client) => client.end()));
  return result;
}

function manyInserts(sessions) {
  return onConnections((query) =>
    closedLoop(
      Array.from({ length: sessions }, () => {
        const session = newId("bare");
        let seq = 0;
        return () => query(insert(session, seq++));
      }),
    ),
  );
}

/** The statement for one session, and its values. */
function ofOne({ id, seq, holder, incarnation }) {
  const values = ["", id, 1, seq, 1, LINE_BYTES, TURN, 0, null, holder, incarnation, line];
  return { ...statements.appendOne, values };
}

/** The statement for many sessions with one of them. The server plans it anew each time. */
function groupOfOne({ id, seq, holder, incarnation }) {
  const arrays = [[""], [id], [1], [seq], [1], [LINE_BYTES], [TURN], [0], [null], [1]];
  return { ...statements.append, values: [...arrays, holder, incarnation, line, [1]] };
}

async function singleAppends(sessions, queryOf = ofOne) {
  const ids = Array.from({ length: sessions }, () => newId("single"));
  const holder = "00000000-0000-4000-8000-000000000001";
  const [{ incarnation }] = await sql("select incarnation from s.store");
  await sql(
    `insert into s.sessions (tenant, id, made, fence, holder, open_turn, wake_at)
     select '', id, true, 1, $1, $3, now() from unnest($2::text[]) as id`,
    [holder, ids, TURN],
  );
  return onConnections((query) =>
    closedLoop(
      ids.map((id) => {
        let seq = 0;
        return async () => {
          const { rows } = await query(queryOf({ id, seq: seq++, holder, incarnation }));
          if (rows.length !== 1) throw new Error("a single guarded append was refused");
        };
      }),
    ),
  );
}

function figures(times, { elapsedMs, clientMs, serverMs }) {
  const each = (ms) => (ms === undefined ? undefined : (ms / times.length) * 1000);
  return {
    ...latency(times),
    rate: (times.length / elapsedMs) * 1000,
    clientUs: each(clientMs),
    serverUs: each(serverMs),
  };
}

function cpuText({ clientUs, serverUs }) {
  return `CPU ${number(clientUs, 0)} + ${number(serverUs, 0)} µs`;
}

function wait(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Ratios are taken within a round, and only then their median. */
function ratio(above, below, field) {
  return over(
    results[above].map((result, index) => result[field] / results[below][index][field]),
    (value) => value,
  );
}

function shown(kind) {
  const of = (field) => over(results[kind], (one) => one[field]);
  const cpu = cpuText({ clientUs: of("clientUs"), serverUs: of("serverUs") });
  return `${number(of("rate"), 0)}/s, p50 ${number(of("p50"))} ms, p99 ${number(of("p99"))} ms, ${cpu}`;
}

function spent({ clientUs, serverUs }) {
  return clientUs + serverUs;
}

/** Processor time of an append on both sides, against that of another kind in the same round. */
function cpuRatio(above, below) {
  return over(
    results[above].map((result, index) => spent(result) / spent(results[below][index])),
    (value) => value,
  );
}

function print(hot) {
  const append = ratio("guarded", "bare", "p50");
  const group = ratio("group32", "single32", "rate");
  const group200 = over(results.group200, ({ p99 }) => p99);
  report(
    `PostgreSQL ${database.version}, ${database.settings}; ${machine()}; ${rounds} rounds, medians; lines of ${LINE_BYTES} bytes`,
    [
      { figure: "write and fdatasync on the same disk", measured: shown("disk") },
      { figure: "bare insert, 1 connection", measured: shown("bare") },
      { figure: "guarded append, 1 session", measured: shown("guarded") },
      {
        figure: "… p50 against the bare insert",
        target: "≤ 1.6×",
        measured: `${number(append)}×`,
        met: append <= 1.6,
      },
      { figure: "bare insert, 32 sessions, 8 connections", measured: shown("bare32") },
      { figure: "single guarded appends, 32 sessions, 8 connections", measured: shown("single32") },
      { figure: "group append, 32 sessions, 2 connections", measured: shown("group32") },
      {
        figure: "… rate against single appends",
        target: "≥ 3×",
        measured: `${number(group)}×`,
        met: group >= 3,
      },
      {
        figure: "… processor time of a single append against it",
        measured: `${number(cpuRatio("single32", "group32"))}×`,
      },
      {
        figure: "the group's statement with one session each, 32 sessions, 8 connections",
        measured: shown("alone32"),
      },
      {
        figure: "… rate of the group append against it",
        measured: `${number(ratio("group32", "alone32", "rate"))}×`,
      },
      { figure: "single guarded appends, 200 sessions, 8 connections", measured: shown("single200") },
      { figure: "group append, 200 sessions, 2 connections", measured: shown("group200") },
      {
        figure: "… rate against single appends",
        target: "≥ 3×",
        measured: `${number(ratio("group200", "single200", "rate"))}×`,
        met: ratio("group200", "single200", "rate") >= 3,
      },
      {
        figure: "… processor time of a single append against it",
        measured: `${number(cpuRatio("single200", "group200"))}×`,
      },
      {
        figure: "… p99",
        target: "≤ 50 ms",
        measured: `${number(group200)} ms`,
        met: group200 <= 50,
      },
      {
        figure: "updates of session rows that touched no index (HOT)",
        measured: `${number((100 * Number(hot.hot)) / Number(hot.all), 1)} % of ${Number(hot.all).toLocaleString("en-GB")}`,
      },
    ],
  );
}
