/** What `throughline store status` shows: versions, nodes, sessions, what waits, sizes, and what the server can do. */

import type { Engine } from "./engine.ts";
import type { HintState } from "./hints.ts";
import type { Row } from "./lane.ts";
import { quoted } from "./migrate.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { ALIVE } from "./statements.ts";

export interface NodeStatus {
  readonly name: string;
  readonly pool: string | null;
  readonly program: string;
  readonly alive: boolean;
  readonly draining: boolean;
  /** Negative: it ran out this long ago. */
  readonly leaseLeftMs: number;
  readonly sessions: number;
  readonly startedAt: string;
}

export interface StoreStatus {
  readonly version: number;
  /** The version that this program writes. */
  readonly programVersion: number;
  readonly oldestReader: number;
  readonly oldestWriter: number;
  readonly incarnation: string;
  readonly server: string;
  readonly nodes: readonly NodeStatus[];
  readonly sessions: {
    readonly count: number;
    readonly events: number;
    readonly bytes: number;
    readonly tenants: number;
    /** Held by a living node. */
    readonly held: number;
    readonly openTurns: number;
    /** With an open turn or an unread request that some node will take up. */
    readonly waiting: number;
  };
  readonly inbox: { readonly entries: number; readonly oldestMs: number | null };
  readonly tables: readonly { readonly name: string; readonly bytes: number }[];
  /** Whether hints arrive, or nodes poll. */
  readonly hints: HintState;
  /** Whether statements are prepared by name. */
  readonly prepared: boolean;
  /** Whether a restored database is noticed without `throughline store restored`. */
  readonly noticesRestore: boolean;
}

export const TABLES = [
  "store",
  "nodes",
  "sessions",
  "events",
  "blobs",
  "live",
  "inbox",
  "tokens",
  "login_codes",
] as const;

export async function storeStatus(engine: Engine): Promise<StoreStatus> {
  await engine.identity.check();
  const { connections, schema, identity, statements } = engine;
  const s = quoted(schema);
  const ask = async (text: string): Promise<readonly Row[]> => connections.read({ text }, []);
  const [store, [sessions = {}], [inbox = {}], nodes, tables, [server = {}]] = await Promise.all([
    identity.row(),
    ask(
      `select count(*) filter (where x.made)::int as count, coalesce(sum(x.next_seq), 0)::text as events,
              coalesce(sum(x.bytes), 0)::text as bytes, count(distinct x.tenant) filter (where x.made)::int as tenants,
              count(*) filter (where ${ALIVE})::int as held, count(x.open_turn)::int as open_turns,
              count(x.wake_at)::int as waiting
         from ${s}.sessions x cross join ${s}.store st left join ${s}.nodes n on n.id = x.holder`,
    ),
    ask(
      `select count(*)::int as entries, (extract(epoch from clock_timestamp() - min(at)) * 1000)::float8 as oldest
         from ${s}.inbox`,
    ),
    ask(
      `select n.name, n.pool, n.program, n.draining, n.started_at::text as started_at, ${ALIVE} as alive,
              (extract(epoch from n.lease_until - clock_timestamp()) * 1000)::float8 as left_ms,
              (select count(*) from ${s}.sessions x where x.holder = n.id)::int as sessions
         from ${s}.nodes n, ${s}.store st order by alive desc, n.name, n.started_at`,
    ),
    tableSizes(engine),
    ask("select current_setting('server_version') as version"),
  ]);
  await connections.ask(statements.identity, []);
  return {
    version: Number(store["version"]),
    programVersion: SCHEMA_VERSION,
    oldestReader: Number(store["oldest_reader"]),
    oldestWriter: Number(store["oldest_writer"]),
    incarnation: String(store["incarnation"]),
    server: `PostgreSQL ${String(server["version"])}`,
    nodes: nodes.map((row) => ({
      name: String(row["name"]),
      pool: typeof row["pool"] === "string" ? row["pool"] : null,
      program: String(row["program"]),
      alive: row["alive"] === true,
      draining: row["draining"] === true,
      leaseLeftMs: Math.round(Number(row["left_ms"])),
      sessions: Number(row["sessions"]),
      startedAt: String(row["started_at"]),
    })),
    sessions: {
      count: Number(sessions["count"]),
      events: Number(sessions["events"]),
      bytes: Number(sessions["bytes"]),
      tenants: Number(sessions["tenants"]),
      held: Number(sessions["held"]),
      openTurns: Number(sessions["open_turns"]),
      waiting: Number(sessions["waiting"]),
    },
    inbox: {
      entries: Number(inbox["entries"]),
      oldestMs: inbox["oldest"] === null ? null : Math.round(Number(inbox["oldest"])),
    },
    tables,
    hints: await hintsOf(engine),
    prepared: connections.prepares && connections.address.prepare !== "never",
    noticesRestore: (await identity.marks()) !== undefined,
  };
}

/** With indexes and TOAST; those of partitions count as their table's. */
async function tableSizes({
  connections,
  schema,
}: Engine): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
  const text = `select t.name, coalesce((select sum(pg_total_relation_size(p.relid)) from pg_partition_tree(c.oid) p),
                       pg_total_relation_size(c.oid))::text as bytes
                  from unnest($2::text[]) with ordinality as t(name, o)
                  join pg_class c on c.relname = t.name and c.relnamespace = to_regnamespace($1) order by t.o`;
  const rows = await connections.read({ text }, [quoted(schema), [...TABLES]]);
  return rows.map((row) => ({ name: String(row["name"]), bytes: Number(row["bytes"]) }));
}

const MOST_WAIT_MS = 5000;
const LOOK_AGAIN_MS = 20;

/** Connects the listener and waits until it knows whether its own hint arrives. */
export async function hintsOf({ clock, hints }: Engine): Promise<HintState> {
  hints.start();
  const until = clock.monotonic() + MOST_WAIT_MS;
  while (hints.state === "connecting" && clock.monotonic() < until) await clock.sleep(LOOK_AGAIN_MS);
  return hints.state;
}
