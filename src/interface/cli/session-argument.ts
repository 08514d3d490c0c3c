/** Finds a command's session: by id, a unique prefix of the id, title, or as the last session of this directory. */

import type { Command } from "commander";

import type { Log } from "../../runtime/log/index.ts";
import { resolveSession } from "./choose-session.ts";
import { openStore, type StoreFlags } from "./open-store.ts";

/** What commands that take a session know of it: where to look, and whether the last one is meant. */
export interface LastFlag extends StoreFlags {
  readonly last?: boolean;
}

export function takesSession(command: Command): Command {
  return takesLast(command.argument("[session]", "the session's id, a unique prefix of it, or its title"));
}

export function takesLast(command: Command): Command {
  return command.option("--last", "use the last session of this directory");
}

/** `orFile` means that the command also takes files, and that the name is not a file. */
export async function sessionNamed(
  name: string | undefined,
  flags: LastFlag,
  orFile = false,
): Promise<string> {
  return resolveSession(await openStore(flags), { name, last: flags.last === true, orFile }, process.cwd());
}

/** Opens a session's log for reading and returns what `read` makes of it. */
export async function readSession<T>(
  name: string | undefined,
  flags: LastFlag,
  read: (log: Log) => Promise<T> | T,
): Promise<T> {
  return withLog(openToRead(await sessionNamed(name, flags), flags), read);
}

export async function openToRead(id: string, flags: StoreFlags): Promise<Log> {
  return (await openStore(flags)).open(id, { mode: "read" });
}

export async function withLog<T>(opening: Promise<Log>, work: (log: Log) => Promise<T> | T): Promise<T> {
  const log = await opening;
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}
