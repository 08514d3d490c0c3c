/** Sessions in PostgreSQL, shared by any number of machines (docs/store-postgres.md). */

import {
  aClock,
  aPositive,
  aText,
  checkArgument,
  checkOptions,
  type Clock,
  type OptionCheck,
  type OptionChecks,
  systemClock,
} from "../../base/support/index.ts";
import {
  assertSessionId,
  type LockAttempt,
  locked,
  lockWithin,
  type Log,
  notFound,
  type OpenOptions,
  rememberPlace,
  type Store,
  storeClosed,
} from "../log/index.ts";
import { Engine } from "./engine.ts";
import { nodesOf, usageOf } from "./health.ts";
import { admissionOf, admit, inboxWaiting, type InboxParts, readInbox, settle } from "./inbox.ts";
import type { Row } from "./lane.ts";
import { listRows } from "./list-rows.ts";
import type { Hold } from "./log-parts.ts";
import { metricsOf } from "./metrics.ts";
import { isOwnNode } from "./node.ts";
import { PostgresLog } from "./postgres-log.ts";
import { NOTHING_SEEN } from "./releases.ts";
import { isPostgresUrl, parseStoreUrl } from "./store-url.ts";
import { createWhole, removeSession } from "./whole-session.ts";

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** The password, if it is not in the URL or in PGPASSWORD. */
  readonly password?: string | undefined;
  /** An address for LISTEN, where the URL leads to a pooler in transaction mode. */
  readonly directUrl?: string | undefined;
  /** The tenant whose sessions these are. Default: the one without a name. */
  readonly tenant?: string | undefined;
  /** The name of this process among the nodes. Default: host name and process id. */
  readonly name?: string | undefined;
  /**
   * Makes this process take over the open turns of dead nodes of the same pool, and take commands from other nodes. Only
   * a server does that. Default: none.
   */
  readonly pool?: string | undefined;
  /** How long after a node's last sign of life another may take over, in milliseconds. Default: 15,000. */
  readonly leaseMs?: number | undefined;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** For tests: a limit below the real one. */
  readonly largestLogBytes?: number | undefined;
}

const LEASE_MS = 15_000;
const LEAST_LEASE_MS = 300;

const aUrl: OptionCheck = (value) =>
  typeof value === "string" && isPostgresUrl(value)
    ? undefined
    : "the address of a database: postgres://USER@HOST/DATABASE";

const POSTGRES_STORE_OPTIONS = {
  password: aText,
  directUrl: aUrl,
  tenant: aText,
  name: aText,
  pool: aText,
  leaseMs: (value, place) =>
    aPositive(value, place) === undefined && Number(value) >= LEAST_LEASE_MS
      ? undefined
      : `a number, ${LEAST_LEASE_MS} or more`,
  clock: aClock,
  largestLogBytes: aPositive,
} satisfies OptionChecks<PostgresStoreOptions>;

/**
 * Returns a store that keeps sessions in PostgreSQL, where several machines share them. The database needs its tables
 * first (`throughline migrate`), and the program needs the package `pg`.
 *
 * @example
 * ```ts
 * import { createAgent, emulator, postgresStore } from "throughline";
 *
 * async function greet(url: string): Promise<void> {
 *   const store = postgresStore(url);
 *   const session = await createAgent({ model: emulator() }).open({ store });
 *   await session.send("Hello").result();
 *   await session.close();
 *   await store.close();
 * }
 * console.log(typeof greet);
 * ```
 */
export function postgresStore(url: string, options: PostgresStoreOptions = {}): Store {
  checkArgument("postgresStore", "url", url, aUrl);
  checkOptions("postgresStore", options, POSTGRES_STORE_OPTIONS);
  return storeOf(createEngine(url, options), options.tenant ?? "", options);
}

export function createEngine(url: string, options: PostgresStoreOptions = {}): Engine {
  const { password, directUrl, leaseMs = LEASE_MS, clock = systemClock, name, pool } = options;
  return new Engine({
    address: parseStoreUrl(url, password),
    direct: directUrl === undefined ? undefined : parseStoreUrl(directUrl, password),
    leaseMs,
    clock,
    name,
    pool,
  });
}

const ENGINES = new WeakMap<Store, Engine>();

/** The engine of a store that `postgresStore` made. */
export function engineOf(store: Store): Engine | undefined {
  return ENGINES.get(store);
}

function storeOf(
  engine: Engine,
  tenant: string,
  options: Pick<PostgresStoreOptions, "largestLogBytes"> = {},
): Store {
  const { connections, statements, node, schema, clock } = engine;
  const inbox: InboxParts = {
    connections,
    statements,
    tenant,
    pool: node.pool,
    held: (id) => engine.watcher.held(tenant, id),
    hint: engine.hint,
  };
  const assertOpen = (): void => {
    if (engine.closing.aborted) throw storeClosed();
  };
  const look = async (id: string): Promise<Row | undefined> => {
    await engine.identity.check();
    return (await connections.read(statements.look, [tenant, id]))[0];
  };
  const store: Store = {
    async open(id, openOptions) {
      assertSessionId(id);
      assertOpen();
      return openLog(id, openOptions);
    },
    async create(id, whole) {
      assertSessionId(id);
      await engine.identity.check();
      await createWhole(engine, tenant, id, whole);
    },
    async exists(id) {
      assertSessionId(id);
      return (await look(id))?.["made"] === true;
    },
    async *list(listOptions = {}) {
      await engine.identity.check();
      yield* listRows({ connections, schema, tenant, read: readLog }, listOptions);
    },
    async count() {
      await engine.identity.check();
      return (await usageOf(engine, tenant)).sessions;
    },
    async remove(id) {
      assertSessionId(id);
      const row = await look(id);
      if (row?.["alive"] === true) throw locked(id, holderName(row));
      if (row?.["made"] !== true) throw notFound(id);
      await removeSession(engine, tenant, id, String(row["fence"]));
      engine.hint([id]);
    },
    waiting(id) {
      assertSessionId(id);
      return inboxWaiting(inbox, id);
    },
    async *sessionsWithWaiting() {
      await engine.identity.check();
      for (const row of await connections.read(statements.withWaiting, [tenant]))
        yield String(row["session"]);
    },
    close: () => engine.close(),
    shared: {
      node: node.name,
      tenant,
      pool: node.pool,
      holderOf: async (id) => admissionOf(await look(id)),
      admitTurn: (id, turn, request) => admit(inbox, id, { key: turn, kind: "send", body: request }),
      admitCommand: (id, command) => admit(inbox, id, command),
      confirmLease: () => node.confirm(),
      async commands(id) {
        const { asked, commands } = await readInbox(inbox, id);
        engine.watcher.saw(tenant, id, asked);
        return commands;
      },
      async rest(id) {
        const held = engine.watcher.held(tenant, id);
        if (held?.hold === undefined) return;
        const { fence, holder } = held.hold;
        await connections.ask(statements.rest, [tenant, id, fence, holder, held.asked]);
      },
      settleCommands: (id, keys) => settle(inbox, id, keys),
      onAsked: (listener) => engine.watcher.onAsked((of, id) => listener(id, of)),
      onWake: (listener) => engine.watcher.onWake(listener),
      async orphans(limit) {
        if (node.pool === undefined || node.draining) return [];
        await engine.identity.check();
        const rows = await connections.ask(statements.orphans, [node.pool, node.name, limit]);
        return rows.map((row) => ({ tenant: String(row["tenant"]), id: String(row["id"]) }));
      },
      forTenant: (other) => (other === tenant ? store : storeOf(engine, other, options)),
      async drain() {
        node.draining = true;
        await node.renew().catch(() => undefined);
      },
      tokens: engine.tokens,
      health: () => engine.health.ask(),
      nodes: () => nodesOf(engine),
      describe: ({ models }) => {
        node.models = models;
      },
      metrics: () => metricsOf(engine),
      usage: () => usageOf(engine, tenant),
    },
  };

  const readLog = (id: string): Promise<Log> => openLog(id, { mode: "read" });

  const openLog = async (id: string, { mode, wait = 0 }: OpenOptions): Promise<PostgresLog> => {
    if (mode === "read") {
      const row = await look(id);
      if (row?.["made"] !== true) throw notFound(id);
      const log = logOf(id, row, undefined);
      try {
        return await log.load(Number(row["next_seq"]));
      } catch (error) {
        await log.close();
        // Removed while it was read: its rows are missing because it is gone.
        if ((await look(id))?.["born"] !== row["born"]) throw notFound(id);
        throw error;
      }
    }
    let log: PostgresLog | undefined;
    const lock = await lockWithin(wait, clock, async (): Promise<LockAttempt> => {
      const taken = await engine.openingAlone(`${tenant} ${id}`, () => acquire(id));
      if (typeof taken === "string") return { held: false, holder: taken };
      log = taken;
      return { held: true, release: () => taken.close() };
    });
    if (!lock.held || log === undefined) throw locked(id, lock.held ? "another process" : lock.holder);
    return log;
  };

  /** The log, or the name of the node that holds the session. */
  const acquire = async (id: string): Promise<PostgresLog | string> => {
    for (let tries = 0; ; tries += 1) {
      // The database may think that our lease is over; then this node begins anew.
      if (tries > 0) await node.renew().catch(() => undefined);
      const holder = await node.ensure();
      const { incarnation } = engine.identity;
      const before = (await look(id)) ?? (await reserve(id));
      // Held by this node without a log: the answer to an earlier acquisition was lost.
      const isOurs = before["holder"] === holder && !engine.watcher.holds(tenant, id);
      if (before["alive"] === true && !isOurs) return holderName(before);
      const takesOver = before["holder"] !== null && !isOurs && before["open_turn"] !== null;
      const values = [tenant, id, before["fence"], holder, takesOver, node.pool ?? null];
      const next = { tenant, session: id, holder, fence: String(BigInt(String(before["fence"])) + 1n) };
      let row: Row | undefined;
      try {
        [row] = await connections.ask(statements.acquire, values);
      } catch (error) {
        engine.releases.doubt(next);
        throw error;
      }
      if (row === undefined) continue; // another node was faster, our lease is over, or the answer was lost
      // The next renewal would notice a restored database too late: a call whose start it has lost would run again. Asked
      // after the acquisition, because that may have reached another server than the look.
      const isAnother = row["open_turn"] !== null && (await isAnotherDatabase(incarnation, next));
      if (isAnother || node.id !== holder) {
        // By its own clock this node has died meanwhile, and goes on under another id; or it is about to.
        await engine.releases.release({ ...next, asked: NOTHING_SEEN, openTurn: "keep" });
        continue;
      }
      if (takesOver) engine.takeovers += 1;
      const hold: Hold = {
        holder,
        fence: String(row["fence"]),
        incarnation: engine.identity.incarnation,
        // A node without a pool reads no inbox, so it has not seen what is there: others go on when it leaves.
        asked: node.pool === undefined && row["has_inbox"] === true ? NOTHING_SEEN : String(row["asked"]),
        takeovers: Number(row["takeovers"]),
        restored: before["same"] !== true,
      };
      const log = logOf(id, { ...before, born: row["born"] }, hold);
      try {
        return await log.load(Number(row["next_seq"]));
      } catch (error) {
        await log.close();
        throw error;
      }
    }
  };

  /** Gives the store its new incarnation, if it needs one. Then this node has died, and nothing of before counts. */
  const isAnotherDatabase = async (
    known: string,
    acquired: Parameters<typeof engine.releases.doubt>[0],
  ): Promise<boolean> => {
    const { identity } = engine;
    try {
      return (await identity.compare(await identity.row())) !== known;
    } catch (error) {
      engine.releases.doubt(acquired);
      throw error;
    }
  };

  const reserve = async (id: string): Promise<Row> => {
    await connections.ask(statements.reserve, [tenant, id]);
    return (await look(id)) ?? reserve(id);
  };

  const logOf = (id: string, row: Row, hold: Hold | undefined): PostgresLog => {
    engine.opened();
    return new PostgresLog({
      tenant,
      id,
      connections,
      statements,
      node,
      appender: engine.appender,
      live: engine.live,
      watcher: engine.watcher,
      clock,
      storeClosing: engine.closing,
      releases: engine.releases,
      born: String(row["born"]),
      made: row["made"] === true,
      hold,
      largestLogBytes: options.largestLogBytes,
      closed: () => engine.logClosed(),
    });
  };

  ENGINES.set(store, engine);
  // Two stores on one database are two nodes, even in one process.
  return rememberPlace(store, `postgres ${engine.serial} ${tenant}`);
}

function holderName(row: Row): string {
  return isOwnNode(row["holder"]) ? "this process" : `node ${String(row["holder_name"])}`;
}
