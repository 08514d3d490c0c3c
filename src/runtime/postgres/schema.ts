/**
 * The tables of a store, as numbered steps (docs/store-postgres.md). A step is never changed once a release has it: the
 * next one adds to it. Version n + 1 only adds what a program of version n can ignore; what n needs is dropped in n + 2.
 *
 * - `line` is a line of the log without its LF, checksum included, as text: `jsonb` would sort keys, drop repeated ones
 *   and refuse "\u0000".
 * - `fence` rises with every acquisition and with nothing else. It guards every append, together with `holder` (a uuid
 *   that is never used twice) and `next_seq`.
 * - `asked` rises with every admission to the inbox, so that a writer that is about to leave learns of one it has not
 *   seen.
 * - `live` is not logged: it holds what is on the screen and not yet in the log, and may be lost.
 */

/** The version that this program writes. */
export const SCHEMA_VERSION = 1;

export interface SchemaOptions {
  /** Hash partitions of the events. Chosen once, when the tables are made. */
  readonly partitions?: number | undefined;
}

/** The statements of each step, in order. `s` is the quoted name of the schema. */
export const STEPS: readonly ((s: string, options: SchemaOptions) => readonly string[])[] = [
  (s, { partitions = 0 }) => [
    `create table ${s}.store (
      one boolean primary key default true check (one),
      version integer not null, oldest_reader integer not null, oldest_writer integer not null,
      incarnation uuid not null, system_id bigint, timeline bigint,
      changed_at timestamptz not null default now())`,
    `create table ${s}.nodes (
      id uuid primary key, name text not null, url text, pool text, program text not null, models text,
      incarnation uuid not null, draining boolean not null default false,
      started_at timestamptz not null default now(), lease_until timestamptz not null)`,
    `create table ${s}.sessions (
      tenant text collate "C" not null, id text collate "C" not null,
      made boolean not null default false,
      next_seq bigint not null default 0, bytes bigint not null default 0,
      fence bigint not null default 0, holder uuid, incarnation uuid,
      asked bigint not null default 0,
      open_turn text, wake_at timestamptz, takeovers integer not null default 0, pool text,
      summary text,
      created_at timestamptz not null default clock_timestamp(),
      modified_at timestamptz not null default clock_timestamp(),
      primary key (tenant, id)) with (fillfactor = 50)`,
    `create index sessions_listed on ${s}.sessions (tenant, modified_at desc, id) where made`,
    `create index sessions_held on ${s}.sessions (holder) where holder is not null`,
    `create index sessions_waiting on ${s}.sessions (wake_at) where wake_at is not null`,
    `create table ${s}.events (
      tenant text collate "C" not null, session text collate "C" not null, seq bigint not null,
      line text not null, primary key (tenant, session, seq))${partitions > 0 ? " partition by hash (tenant, session)" : ""}`,
    ...Array.from(
      { length: partitions },
      (_, n) =>
        `create table ${s}.events_${n} partition of ${s}.events for values with (modulus ${partitions}, remainder ${n})`,
    ),
    `create table ${s}.blobs (
      tenant text collate "C" not null, session text collate "C" not null, name text collate "C" not null,
      bytes bytea not null, primary key (tenant, session, name))`,
    `create unlogged table ${s}.live (
      tenant text collate "C" not null, session text collate "C" not null,
      fence bigint not null, n bigint not null, body text not null,
      primary key (tenant, session, fence, n))
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
    `create table ${s}.inbox (
      tenant text collate "C" not null, session text collate "C" not null, key text collate "C" not null,
      kind text not null check (kind in ('send', 'cancel', 'decide')), body text not null,
      cancelled boolean not null default false, n bigint not null,
      at timestamptz not null default clock_timestamp(), primary key (tenant, session, key))`,
    `create table ${s}.tokens (
      digest bytea primary key, tenant text collate "C" not null,
      may text not null check (may in ('read', 'write', 'admin')), name text collate "C" not null,
      kind text not null check (kind in ('token', 'browser', 'login')),
      expires_at timestamptz, created_at timestamptz not null default now())`,
    `create unique index tokens_named on ${s}.tokens (name) where kind = 'token'`,
    `create table ${s}.login_codes (
      digest bytea primary key, tenant text collate "C" not null, may text not null, name text collate "C" not null,
      expires_at timestamptz not null)`,
  ],
];

/** Payloads are sealed and do not shrink, so the default compression costs time and saves nothing. */
export function storageStatements(s: string, hasLz4: boolean, partitions: number): readonly string[] {
  const how = hasLz4 ? "set compression lz4" : "set storage external";
  const tables = ["events", ...Array.from({ length: partitions }, (_, n) => `events_${n}`)];
  return [
    ...tables.map((table) => `alter table ${s}.${table} alter column line ${how}`),
    `alter table ${s}.blobs alter column bytes ${how}`,
  ];
}
