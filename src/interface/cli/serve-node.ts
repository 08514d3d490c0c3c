/** The flags of `serve` that only a PostgreSQL store has: this process is then one of several nodes. */

import type { Command } from "commander";

import { codedError } from "../../base/support/index.ts";
import type { Store } from "../../runtime/log/index.ts";
import { wholeNumber } from "./flag-numbers.ts";
import { chosenDatabase, leaseFrom, openDatabase, openStore, type StoreFlags } from "./open-store.ts";
import { takesStore } from "./store-flag.ts";
import type { Terminal } from "./terminal.ts";

export interface NodeGiven extends StoreFlags {
  readonly pool?: string;
  readonly drain?: string;
  readonly lease?: string;
  readonly nodeName?: string;
  readonly migrate?: boolean;
}

export function nodeOptions(command: Command): Command {
  return takesStore(command)
    .option(
      "--pool <name>",
      'with --store: take over turns of dead servers of this pool (default: "default")',
    )
    .option(
      "--drain <seconds>",
      "with --store: how long running turns may go on after a signal (default: 25)",
    )
    .option(
      "--lease <ms>",
      "with --store: how long after this server's last sign of life others take over (default: 15000)",
    )
    .option(
      "--node-name <name>",
      "with --store: the name of this server among the nodes (default: host and process)",
    )
    .option("--migrate", "with --store: make or update its tables before the start");
}

const DRAIN = { least: 0, most: 86_400, use: "a whole number of seconds from 0 to 86400" };
const DRAIN_SECONDS = 25;
/** Printed in messages and on terminals of other machines. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

/** `drainMs` is undefined for files, where no other server could go on. */
export async function openNode(
  flags: NodeGiven,
  terminal: Terminal,
): Promise<{ readonly store: Store; readonly drainMs: number | undefined }> {
  const database = chosenDatabase(flags);
  const name = checkedName("--node-name", flags.nodeName);
  const pool = checkedName("--pool", flags.pool) ?? "default";
  const drain = flags.drain === undefined ? DRAIN_SECONDS : wholeNumber("--drain", flags.drain, DRAIN);
  const leaseMs = flags.lease === undefined ? undefined : leaseFrom("--lease", flags.lease);
  if (database === undefined) {
    const alone = ONLY_SHARED.find(([given]) => flags[given] !== undefined)?.[1];
    if (alone !== undefined)
      throw codedError(
        "usage",
        `${alone} works only with a PostgreSQL store: add --store or set THROUGHLINE_STORE, or omit ${alone}`,
      );
    return { store: await openStore(flags), drainMs: undefined };
  }
  if (flags.migrate === true) {
    const { migrated } = await import("./migrate-words.ts");
    terminal.stderr.write(`${await migrated(database)}\n`);
  }
  return { store: await openDatabase(database, { pool, name, leaseMs }), drainMs: drain * 1000 };
}

const ONLY_SHARED = [
  ["pool", "--pool"],
  ["drain", "--drain"],
  ["lease", "--lease"],
  ["nodeName", "--node-name"],
  ["migrate", "--migrate"],
] as const;

function checkedName(flag: string, name: string | undefined): string | undefined {
  if (name === undefined || NAME.test(name)) return name;
  throw codedError(
    "usage",
    `${flag}: use 1 to 64 letters, digits and . _ : -, beginning with a letter or a digit`,
  );
}
