/** `throughline migrate`: makes and updates the tables of a PostgreSQL store. Nothing else changes them. */

import { Command } from "commander";

import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { wholeNumber } from "../flag-numbers.ts";
import { migrated } from "../migrate-words.ts";
import { requiredDatabase, type StoreFlags } from "../open-store.ts";
import { takesStore } from "../store-flag.ts";
import type { Terminal } from "../terminal.ts";

interface MigrateFlags extends StoreFlags {
  readonly dryRun?: boolean;
  readonly partitions?: string;
}

const PARTITIONS = { least: 1, most: 1024, use: "a whole number from 1 to 1024" };

export function migrateCommand(terminal: Terminal, finish: Finish): Command {
  return takesStore(
    new Command("migrate").description("Make or update the tables of a PostgreSQL store for sessions"),
  )
    .option("--dry-run", "print the statements without running them")
    .option("--partitions <n>", "split the events into n hash partitions; only when the tables are made")
    .addHelpText(
      "after",
      `
The database user needs the right to create tables. Servers need only select, insert, update and delete.

Examples:
  THROUGHLINE_STORE=postgres://owner@db/throughline throughline migrate
  throughline migrate --store postgres://owner@db/throughline --dry-run`,
    )
    .action(async (flags: MigrateFlags) => {
      const { dryRun } = flags;
      const partitions =
        flags.partitions === undefined
          ? undefined
          : wholeNumber("--partitions", flags.partitions, PARTITIONS);
      terminal.stdout.write(`${await migrated(requiredDatabase(flags), { dryRun, partitions })}\n`);
      finish(EXIT.ok);
    });
}
