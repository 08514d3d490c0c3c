/**
 * The session a command is about: by its id, a unique beginning of it, its title, or the last of this directory.
 */

import type { Command } from "commander";

import { fileStore, type Log, type Store } from "../../runtime/log/index.ts";
import { sessionsFolder } from "../config/index.ts";
import { resolveSession } from "./choose-session.ts";

export interface LastFlag {
  readonly last?: boolean;
}

export function takesSession(command: Command): Command {
  return takesLast(command.argument("[session]", "its id, a unique beginning of it, or its title"));
}

export function takesLast(command: Command): Command {
  return command.option("--last", "the last session of this directory");
}

export function sessionStore(): Store {
  return fileStore(sessionsFolder());
}

/** `orFile`: the command takes files, too, and this is none. */
export function sessionNamed(name: string | undefined, flags: LastFlag, orFile = false): Promise<string> {
  return resolveSession(sessionStore(), { name, last: flags.last === true, orFile }, process.cwd());
}

/** What becomes of a session's log, opened to read. */
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
