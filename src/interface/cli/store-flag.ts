/** The flag that names the store, and the first check of its value. Loads nothing, because `--version` loads it. */

import type { Command } from "commander";

import { codedError } from "../../base/support/index.ts";

export interface StoreFlags {
  readonly store?: string | undefined;
}

export const STORE_FLAG = [
  "--store <url>",
  "keep sessions in this PostgreSQL database, for example postgres://USER@HOST/DATABASE",
] as const;

export function takesStore(command: Command): Command {
  return command.option(...STORE_FLAG);
}

/** Says what is wrong in words and repeats nothing of the value: it may hold a password. */
export function assertPostgresUrl(text: string, name = "store"): void {
  if (/^postgres(?:ql)?:\/\//i.test(text)) return;
  throw codedError(
    "store_url_invalid",
    `${name} is not the address of a PostgreSQL database: use postgres://USER@HOST:PORT/DATABASE, or leave it out to keep sessions in files`,
  );
}
