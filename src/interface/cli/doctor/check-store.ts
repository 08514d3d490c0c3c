/** Checks a PostgreSQL store: the server, its tables and rights, and what its nodes left behind. Only reads. */

import { codeOf, messageOf } from "../../../base/support/index.ts";
import type { NodesFacts, ServerFacts } from "../../../runtime/postgres/index.ts";
import { amount } from "../amount.ts";
import { chosenDatabase, type Database, openDatabase, type StoreFlags } from "../open-store.ts";
import { timeOf } from "../store-words.ts";
import { bad, type Finding, note, ok } from "./finding.ts";

/** Nothing depends on clocks, but times of two machines are hard to compare if they differ. */
const MOST_SKEW_MS = 2000;

/** Undefined if the sessions are in files. */
export async function checkStore(
  flags: StoreFlags & { readonly offline?: boolean },
): Promise<readonly Finding[] | undefined> {
  let database: Database | undefined;
  try {
    database = chosenDatabase(flags);
  } catch (error) {
    // The check of the settings has reported a file that cannot be read.
    return codeOf(error)?.startsWith("config_") === true || codeOf(error) === "home_invalid"
      ? undefined
      : [failed(error)];
  }
  if (database === undefined) return undefined;
  if (flags.offline === true)
    return [note("store", "the sessions are in a PostgreSQL store, which was not contacted (--offline)")];
  try {
    const { engineOf, nodesFacts, serverFacts } = await import("../../../runtime/postgres/index.ts");
    const engine = engineOf(await openDatabase(database));
    if (engine === undefined) throw new Error("the store has no engine");
    const server = await serverFacts(engine);
    const found = serverFindings(server);
    const usable = server.version === server.programVersion && server.missingRights.length === 0;
    return usable ? [...found, ...nodeFindings(await nodesFacts(engine))] : found;
  } catch (error) {
    return [failed(error)];
  }
}

function failed(error: unknown): Finding {
  return bad("store", messageOf(error), `correct this and run it again (${codeOf(error) ?? "internal"})`);
}

function serverFindings(server: ServerFacts): readonly Finding[] {
  const { encoding, tls, local, readOnly, unsafe, clockAheadMs, missingRights, storage } = server;
  return [
    ok("store", `${server.server} answers`),
    tls || local
      ? ok("store", tls ? "the connection is encrypted (TLS)" : "the server is on this machine")
      : note(
          "store",
          "the connection is not encrypted: others on the network can read sessions and the login",
          "add ?sslmode=verify-full to the address",
        ),
    encoding === "UTF8"
      ? ok("store", "the encoding is UTF8")
      : bad(
          "store",
          `the encoding is ${encoding}, which cannot keep every text`,
          "create a database with --encoding=UTF8 --template=template0",
        ),
    ...(readOnly
      ? [
          bad(
            "store",
            "the server takes no writes: it is a replica, or read-only",
            "use the address of the primary server",
          ),
        ]
      : []),
    versionFinding(server),
    ...(server.version === 0 ? [] : [rightsFinding(missingRights)]),
    ...unsafe.map((name) =>
      note(
        "store",
        `${name} is off: a crash of the server can lose events that were acknowledged`,
        `switch ${name} on`,
      ),
    ),
    ...(server.version === 0 ? [] : [storageFinding(storage)]),
    Math.abs(clockAheadMs) > MOST_SKEW_MS
      ? note(
          "clock",
          `the clock of this machine is ${timeOf(Math.abs(clockAheadMs))} ${clockAheadMs > 0 ? "ahead of" : "behind"} the server's; nothing depends on it, but times are hard to compare`,
          "synchronise both clocks",
        )
      : ok("clock", "the clocks of this machine and the server agree"),
  ];
}

function rightsFinding(missing: readonly string[]): Finding {
  return missing.length === 0
    ? ok("store", "the database user has all rights it needs on the tables")
    : bad(
        "store",
        `the database user lacks rights: ${missing.join(", ")}`,
        "grant select, insert, update and delete on the tables of the store to it",
      );
}

function versionFinding({ version, programVersion }: ServerFacts): Finding {
  if (version === programVersion) return ok("store", `the tables have version ${version}`);
  if (version < programVersion)
    return bad(
      "store",
      version === 0 ? "the database has no tables of a store" : `the tables have version ${version}`,
      `run throughline migrate: this program needs version ${programVersion}`,
    );
  return bad(
    "store",
    `the tables have version ${version}, and this program knows only up to ${programVersion}`,
    "update throughline",
  );
}

function storageFinding(storage: string): Finding {
  return storage === "pglz"
    ? note(
        "store",
        "events are kept with the compression pglz, which costs time and saves little",
        "alter table events alter column line set compression lz4",
      )
    : ok(
        "store",
        storage === "lz4" ? "events are compressed with lz4" : "events are kept without compression",
      );
}

function nodeFindings(nodes: NodesFacts): readonly Finding[] {
  const { hints, prepared, noticesRestore, dead, stuckInbox, mixedPools } = nodes;
  return [
    hints === "listening"
      ? ok("nodes", "hints between nodes work (LISTEN)")
      : note(
          "nodes",
          "LISTEN does not work here, as behind a pooler in transaction mode, so nodes poll: others see text up to 0.1 s later, and the start of a turn up to 1 s later",
          "set THROUGHLINE_STORE_DIRECT to an address of the server without the pooler",
        ),
    prepared
      ? ok("nodes", "statements are prepared by name")
      : note("nodes", "statements are not prepared, which costs some time for each of them"),
    noticesRestore
      ? ok("nodes", "a restored database is noticed by itself")
      : note(
          "nodes",
          "the server hides its timeline, so a restored database is not noticed",
          "after a restore, run throughline store restored before the servers start",
        ),
    ...dead.map(({ name, sessions, openTurns, pool }) => deadFinding(name, sessions, openTurns, pool)),
    ...(stuckInbox.entries === 0
      ? []
      : [
          note(
            "nodes",
            `${amount(stuckInbox.entries, "request")} ${stuckInbox.entries === 1 ? "waits" : "wait"} for a node, the oldest for ${timeOf(stuckInbox.oldestMs)}`,
            "start a server of the pool, or look at what the one that holds the session does",
          ),
        ]),
    ...mixedPools.map((pool) =>
      bad(
        "nodes",
        `the nodes of pool ${pool} have different models or keys, so reasoning is left out when one goes on for another`,
        "give all of them the same keys, base URLs and settings",
      ),
    ),
  ];
}

function deadFinding(name: string, sessions: number, openTurns: number, pool: string | null): Finding {
  const held = `${name} is gone and still holds ${amount(sessions, "session")}`;
  if (openTurns === 0) return ok("nodes", `${held}, which any node may take`);
  const turns = `with ${amount(openTurns, "open turn")}`;
  return pool === null
    ? note("nodes", `${held} ${turns}`, "throughline resume continues such a turn")
    : note("nodes", `${held} ${turns}`, `a server of pool ${pool} goes on with them: start one`);
}
