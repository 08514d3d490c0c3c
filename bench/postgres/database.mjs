/**
 * The database of a measurement: a private server on loopback with its files on disk, `fsync` and `synchronous_commit` on
 * as PostgreSQL ships them, and its processor time. `THROUGHLINE_BENCH_POSTGRES` names another server; then its processor
 * time is unknown. Needs `node --import tsx`, for the cluster that the tests use.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import pg from "pg";

import { migrateStore } from "../../src/runtime/postgres/index.ts";
import { startCluster } from "../../test/support/postgres-cluster.ts";

/** Linux counts processor time in ticks of 10 ms. */
const TICK_MS = 10;

let made = 0;

/** A database with the tables of a store. Removed by `close`. */
export async function startDatabase({ settings = [] } = {}) {
  const given = process.env.THROUGHLINE_BENCH_POSTGRES;
  const cluster = given === undefined ? await startCluster({ settings }) : undefined;
  const base = given ?? cluster.url;
  made += 1;
  const schema = `bench_${process.pid}_${made}`;
  const url = `${base}?schema=${schema}`;
  await migrateStore(url);
  const client = new pg.Client(base);
  await client.connect();
  // The tables of a store, by the name they have in the text: `s.events`.
  const sql = async (text, values = []) =>
    (await client.query({ text: text.replaceAll(/\bs\./g, `"${schema}".`), values })).rows;
  const [{ version }] = await sql("select split_part(version(), ' ', 2) as version");
  const durable = {};
  for (const name of ["fsync", "synchronous_commit", "full_page_writes"])
    durable[name] = (await sql(`show ${name}`))[0][name];
  return {
    base,
    schema,
    url,
    folder: cluster?.folder,
    port: cluster?.port,
    cluster,
    version,
    sql,
    durable,
    settings: Object.entries(durable)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
    connect: async () => {
      const one = new pg.Client(base);
      await one.connect();
      return one;
    },
    /** Processor time of the server so far in ms, with all of its processes; undefined for a server that is not ours. */
    cpuMs: () => (cluster === undefined ? undefined : treeCpuMs(postmaster(cluster.folder))),
    walBytes: async () =>
      Number((await sql("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as n"))[0].n),
    async close() {
      if (given !== undefined) await sql(`drop schema "${schema}" cascade`).catch(() => undefined);
      await client.end().catch(() => undefined);
      await cluster?.remove();
    },
  };
}

function postmaster(folder) {
  return Number(readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n")[0]);
}

/** Of a process, of its children, and of the children that have ended. */
function treeCpuMs(root) {
  let ticks = ticksOf(root, true);
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    if (fields !== undefined && Number(fields[1]) === root) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_MS;
}

export function cpuMsOf(pid) {
  return ticksOf(pid, false) * TICK_MS;
}

function ticksOf(pid, withEnded) {
  const fields = statOf(pid);
  if (fields === undefined) return 0;
  const own = Number(fields[11]) + Number(fields[12]);
  return withEnded ? own + Number(fields[13]) + Number(fields[14]) : own;
}

/** The fields of /proc/PID/stat from the state on; the name before them may hold spaces. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
