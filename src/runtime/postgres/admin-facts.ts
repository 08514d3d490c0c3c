/** What `throughline doctor` looks at in a database: what the server is and allows, and what its nodes left behind. */

import { hintsOf, TABLES } from "./admin-status.ts";
import type { Engine } from "./engine.ts";
import type { HintState } from "./hints.ts";
import type { Row } from "./lane.ts";
import { quoted } from "./migrate.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { ALIVE } from "./statements.ts";

/** What can be told of any server, whatever is wrong with its tables. */
export interface ServerFacts {
  readonly server: string;
  readonly encoding: string;
  /** Whether this connection is encrypted. */
  readonly tls: boolean;
  /** The server is on this machine: loopback, or a socket in the file system. */
  readonly local: boolean;
  /** It is a replica, or refuses writes. */
  readonly readOnly: boolean;
  /** Settings that may lose what was acknowledged, and are off. */
  readonly unsafe: readonly string[];
  /** This machine's clock minus the server's. */
  readonly clockAheadMs: number;
  /** The version of the tables; 0 if there are none or they cannot be read. */
  readonly version: number;
  readonly programVersion: number;
  /** `TABLE: right` for each that is missing. */
  readonly missingRights: readonly string[];
  /** How lines are kept: `lz4`, `external`, or `pglz`, which costs time and saves nothing. */
  readonly storage: string;
}

/** What the tables say about the nodes. */
export interface NodesFacts {
  readonly hints: HintState;
  readonly prepared: boolean;
  readonly noticesRestore: boolean;
  /** Nodes that are gone and still hold sessions, by name. */
  readonly dead: readonly {
    readonly name: string;
    readonly sessions: number;
    readonly openTurns: number;
    readonly pool: string | null;
  }[];
  readonly stuckInbox: { readonly entries: number; readonly oldestMs: number };
  /** Pools whose living nodes differ in models or keys. */
  readonly mixedPools: readonly string[];
}

const RIGHTS = ["select", "insert", "update", "delete"];
const UNSAFE = ["synchronous_commit", "fsync", "full_page_writes"];
const STUCK_MS = 60_000;

export async function serverFacts({ connections, schema, clock }: Engine): Promise<ServerFacts> {
  const { host, ssl } = connections.address;
  const s = quoted(schema);
  const ask = async (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> =>
    connections.read({ text }, values);
  const [server = {}] = await ask(
    `select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
            pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as read_only`,
  );
  const unsafe = await ask(
    "select name from pg_settings where name = any($1::text[]) and setting = 'off' order by name",
    [UNSAFE],
  );
  const before = clock.now();
  const [time = {}] = await ask("select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms");
  const middle = (before + clock.now()) / 2;
  const missing = await ask(
    `select t.name as name, r.name as may from unnest($2::text[]) as t(name) cross join unnest($3::text[]) as r(name)
       join pg_class c on c.relname = t.name and c.relnamespace = to_regnamespace($1)
      where not (has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, r.name))
        and (t.name, r.name) not in (('store', 'insert'), ('store', 'delete')) order by t.name, r.name`,
    [s, [...TABLES], RIGHTS],
  );
  const [column = {}] = await ask(
    `select a.attstorage, to_jsonb(a)->>'attcompression' as compression from pg_attribute a
       join pg_class c on c.oid = a.attrelid
      where c.relname = 'events' and c.relnamespace = to_regnamespace($1) and a.attname = 'line'`,
    [s],
  );
  return {
    server: `PostgreSQL ${String(server["version"])}`,
    encoding: String(server["encoding"]),
    tls: ssl !== false,
    local: host.startsWith("/") || host === "localhost" || host === "::1" || host.startsWith("127."),
    readOnly: server["read_only"] === true,
    unsafe: unsafe.map((row) => String(row["name"])),
    clockAheadMs: Math.round(middle - Number(time["ms"])),
    version: await tableVersion(ask, s),
    programVersion: SCHEMA_VERSION,
    missingRights: missing.map((row) => `${String(row["name"])}: ${String(row["may"])}`),
    storage: storageOf(column),
  };
}

export async function nodesFacts(engine: Engine): Promise<NodesFacts> {
  const { connections, schema, identity } = engine;
  const s = quoted(schema);
  const ask = async (text: string): Promise<readonly Row[]> => connections.read({ text }, []);
  const dead = await ask(
    `select coalesce(n.name, 'an unknown node') as name, n.pool, count(*)::int as sessions,
            count(x.open_turn)::int as open_turns
       from ${s}.sessions x cross join ${s}.store st left join ${s}.nodes n on n.id = x.holder
      where x.holder is not null and not ${ALIVE} group by 1, 2 order by 1`,
  );
  const [stuck = {}] = await ask(
    `select count(*)::int as entries, coalesce(extract(epoch from clock_timestamp() - min(at)) * 1000, 0)::float8 as oldest
       from ${s}.inbox where at < clock_timestamp() - ${STUCK_MS} * interval '1 ms'`,
  );
  const mixed = await ask(
    `select n.pool from ${s}.nodes n, ${s}.store st where ${ALIVE} and n.pool is not null
      group by n.pool having count(distinct n.models) > 1 order by n.pool`,
  );
  return {
    hints: await hintsOf(engine),
    prepared: connections.prepares && connections.address.prepare !== "never",
    noticesRestore: (await identity.marks()) !== undefined,
    dead: dead.map((row) => ({
      name: String(row["name"]),
      sessions: Number(row["sessions"]),
      openTurns: Number(row["open_turns"]),
      pool: typeof row["pool"] === "string" ? row["pool"] : null,
    })),
    stuckInbox: { entries: Number(stuck["entries"]), oldestMs: Math.round(Number(stuck["oldest"])) },
    mixedPools: mixed.map((row) => String(row["pool"])),
  };
}

/** 0 if there are no tables, or this user may not look at them. */
async function tableVersion(
  ask: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>,
  s: string,
): Promise<number> {
  const [there] = await ask(
    `select coalesce(has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, 'select'), false) as seen
       from pg_class c where c.relname = 'store' and c.relnamespace = to_regnamespace($1)`,
    [s],
  );
  if (there?.["seen"] !== true) return 0;
  const [row] = await ask(`select version from ${s}.store`);
  return Number(row?.["version"] ?? 0);
}

/** https://www.postgresql.org/docs/current/catalog-pg-attribute.html */
function storageOf({ attstorage, compression }: Row): string {
  if (compression === "l") return "lz4";
  return attstorage === "e" ? "external" : "pglz";
}
