/** What tests of several nodes on one database share: nodes behind a proxy, and a look at the rows beside them. */

import type { EventDraft } from "../../src/base/events/index.ts";
import { type Clock, systemClock } from "../../src/base/support/index.ts";
import type { Log, SharedStore, Store } from "../../src/runtime/log/index.ts";
import {
  type Engine,
  engineOf,
  postgresStore,
  type PostgresStoreOptions,
} from "../../src/runtime/postgres/index.ts";
import { messagesOf, notice } from "../contracts/log-contract.ts";
import { afterTest } from "../support/clean-up.ts";
import { type PgProxy, startPgProxy } from "../support/pg-proxy.ts";
import { type Database, database } from "./fixture.ts";

export { messagesOf, notice };

export interface ProxiedDatabase extends Database {
  readonly proxy: PgProxy;
  /** A node whose every connection goes through the proxy. `store` makes nodes that do not. */
  readonly proxied: (options?: PostgresStoreOptions) => Store;
}

export async function proxiedDatabase(): Promise<ProxiedDatabase> {
  const base = await database();
  const proxy = await startPgProxy(Number(new URL(base.url).port));
  afterTest(() => proxy.close());
  return {
    ...base,
    proxy,
    proxied(options = {}) {
      const store = postgresStore(proxy.through(base.url), options);
      afterTest(() => store.close());
      return store;
    },
  };
}

export function engine(store: Store): Engine {
  const found = engineOf(store);
  if (found === undefined) throw new Error("not a store of PostgreSQL");
  return found;
}

/** Closed after the test, whatever became of it. */
export async function openToWrite(store: Store, id = "s1", wait = 0): Promise<Log> {
  const log = await store.open(id, { mode: "write", wait });
  afterTest(() => log.close().catch(() => undefined));
  return log;
}

export async function openToRead(store: Store, id = "s1"): Promise<Log> {
  const log = await store.open(id, { mode: "read" });
  afterTest(() => log.close());
  return log;
}

/** The code of the error, or what it resolved to. */
export function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => ({ value }),
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}

export async function errorOf(work: Promise<unknown>): Promise<Error & { readonly code?: string }> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("no error");
  return error;
}

/** The messages of the events as the table has them, in order. */
export async function messagesIn({ sql }: Database, session = "s1"): Promise<readonly unknown[]> {
  const rows = await sql("select line from s.events where session = $1 order by tenant, seq", [session]);
  return rows.map(({ line }) => (JSON.parse(String(line)) as EventDraft & { message?: string }).message);
}

/** Ends the lease of a node by the clock of the database, as if it had not been heard of for a minute. */
export async function expire({ sql }: Database, name: string): Promise<void> {
  await sql("update s.nodes set lease_until = clock_timestamp() - interval '1 minute' where name = $1", [
    name,
  ]);
}

/** The session's row. */
export async function rowOf(
  { sql }: Database,
  session = "s1",
  tenant = "",
): Promise<Readonly<Record<string, unknown>>> {
  const [row] = await sql("select * from s.sessions where tenant = $1 and id = $2", [tenant, session]);
  return row ?? {};
}

/** A node's row beside those of this process, alive for an hour. Returns its id. */
export async function foreignNode({ sql }: Database, name: string, pool?: string): Promise<string> {
  const [row] = await sql(
    `insert into s.nodes (id, name, pool, program, incarnation, lease_until)
     select gen_random_uuid(), $1, $2, 'test', incarnation, clock_timestamp() + interval '1 hour' from s.store
     returning id::text as id`,
    [name, pool ?? null],
  );
  return String(row?.["id"]);
}

/** A clock that the test moves. */
export function movable(): Clock & { ahead: number } {
  const clock = {
    ahead: 0,
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() + clock.ahead,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms, signal),
  };
  return clock;
}

/** Begins a turn. */
export const begins = (turn: string): EventDraft => ({
  type: "user_message",
  turn,
  by: "person",
  content: [{ type: "text", text: turn }],
});

/** Ends a turn. */
export const ends = (turn: string): EventDraft => ({
  type: "turn_end",
  turn,
  status: "completed",
  steps: 1,
  usage: { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0 },
  durationMs: 1,
});

/** What a store that several nodes share can do. */
export function shared(store: Store): SharedStore {
  if (store.shared === undefined) throw new Error("not shared");
  return store.shared;
}

/** Two tenants in the same tables. */
export interface Tenants {
  readonly a: Store;
  readonly b: Store;
  /** The same tenants on another node. */
  readonly elsewhere: { readonly a: Store; readonly b: Store };
}

export function tenantsOf(db: Database): Tenants {
  const two = (name: string) => {
    const base = db.store({ name, pool: "web", tenant: "a" });
    return { a: base, b: shared(base).forTenant("b") };
  };
  return { ...two("web-1"), elsewhere: two("web-2") };
}

/** Makes a session with these messages. */
export async function made(store: Store, id: string, ...messages: readonly string[]): Promise<void> {
  const log = await store.open(id, { mode: "write" });
  await log.append(messages.map(notice));
  await log.close();
}
