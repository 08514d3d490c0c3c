/** Finds a command's session: by id, a unique prefix of the id, title, or as the last session of this directory. */

import type { Command } from "commander";

import { fileStore, type Log, type Store } from "../../runtime/log/index.ts";
import { sessionsFolder } from "../config/index.ts";
import { resolveSession } from "./choose-session.ts";

export interface LastFlag {
  readonly last?: boolean;
}

export function takesSession(command: Command): Command {
  return takesLast(command.argument("[session]", "the session's id, a unique prefix of it, or its title"));
}

export function takesLast(command: Command): Command {
  return command.option("--last", "use the last session of this directory");
}

export function sessionStore(): Store {
  return fileStore(sessionsFolder());
}

/** `orFile` means that the command also takes files, and that the name is not a file. */
export function sessionNamed(name: string | undefined, flags: LastFlag, orFile = false): Promise<string> {
  return resolveSession(sessionStore(), { name, last: flags.last === true, orFile }, process.cwd());
}

/** Opens a session's log for reading and returns what `read` makes of it. */
export async function readSession<T>(
  name: string | undefined,
  flags: LastFlag,
  read: (log: Log) => Promise<T> | T,
): Promise<T> {
  return withLog(sessionStore().open(await sessionNamed(name, flags), { mode: "read" }), read);
}

export async function withLog<T>(opening: Promise<Log>, work: (log: Log) => Promise<T> | T): Promise<T> {
  const log = await opening;
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}
