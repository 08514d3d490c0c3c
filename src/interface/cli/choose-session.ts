/**
 * Which session a command means: a new one, the last of this directory, or one by its id, a unique beginning of it, or its title.
 */

import { codedError } from "../../base/support/index.ts";
import { SESSION_ID, type Store } from "../../runtime/log/index.ts";
import { inertLine } from "./inert-text.ts";

/** Tells a person something that does not stop the command. */
export type Warn = (text: string) => void;

export interface SessionChoice {
  readonly continueLast: boolean;
  readonly id: string | undefined;
}

/** Undefined: a new session. */
export async function chooseSession(
  store: Store,
  choice: SessionChoice,
  cwd: string,
  warn: Warn,
): Promise<string | undefined> {
  if (choice.id !== undefined) return byName(store, choice.id);
  return choice.continueLast ? lastOf(store, cwd, warn, "leave -c out to start one") : undefined;
}

/** For commands that need one: by name, or the last of this directory. */
export async function resolveSession(
  store: Store,
  choice: {
    readonly name: string | undefined;
    readonly last: boolean;
    /** The command takes files, too, and this is none. */
    readonly orFile?: boolean;
  },
  cwd: string,
  warn: Warn = ignore,
): Promise<string> {
  if (choice.last || choice.name === undefined) {
    if (choice.last && choice.name === undefined) return lastOf(store, cwd, warn, "start one with a prompt");
    throw codedError(
      "usage",
      choice.last ? "give a session or --last, not both" : "which session? Give its id, or --last",
    );
  }
  return byName(store, choice.name, choice.orFile === true ? "file and no session" : "session");
}

/** By id, a unique beginning of it, or the title. */
async function byName(store: Store, name: string, what = "session"): Promise<string> {
  try {
    return await byPrefix(store, name, what);
  } catch (error) {
    const titled = await byTitle(store, name);
    if (titled.length === 0) throw error;
    if (titled.length === 1 && titled[0] !== undefined) return titled[0];
    throw codedError(
      "session_ambiguous",
      `"${inertLine(name, 64)}" is the title of ${titled.length} sessions (${some(titled)}): give an id`,
    );
  }
}

function some(ids: readonly string[]): string {
  return `${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ", …" : ""}`;
}

async function byTitle(store: Store, title: string): Promise<readonly string[]> {
  const found: string[] = [];
  // A log that cannot be read has no title to go by; naming it by its id says what is wrong with it.
  for await (const { id, summary } of store.list({ search: title }))
    if (summary?.title === title) found.push(id);
  return found;
}

async function byPrefix(store: Store, text: string, what: string): Promise<string> {
  const found: string[] = [];
  for await (const { id } of store.list({ summaries: false })) {
    if (id === text) return id;
    if (text !== "" && id.startsWith(text)) found.push(id);
  }
  if (found.length === 1 && found[0] !== undefined) return found[0];
  // Not listed and yet there: a link or a pipe. Opening it says so.
  if (SESSION_ID.test(text) && (await store.exists(text))) return text;
  if (found.length === 0) {
    throw codedError("session_not_found", `there is no ${what} "${inertLine(text, 64)}"`);
  }
  throw codedError(
    "session_ambiguous",
    `"${inertLine(text, 64)}" begins ${found.length} session ids (${some(found)}): give more of it`,
  );
}

async function lastOf(store: Store, cwd: string, warn: Warn, instead: string): Promise<string> {
  const unreadable: string[] = [];
  for await (const { id, summary, problem } of store.list()) {
    if (problem !== undefined) unreadable.push(`${id} (${problem})`);
    if (summary?.cwd !== cwd) continue;
    if (unreadable.length > 0) warn(`newer, but not readable: ${unreadable.join("; ")}`);
    return id;
  }
  if (unreadable.length > 0) {
    throw codedError(
      "log_damaged",
      `there is no readable session of this directory: ${unreadable.join("; ")}`,
    );
  }
  throw codedError("session_not_found", `there is no session of this directory yet: ${instead}`);
}

function ignore(): void {
  // Commands that only look at a session name it by what they print.
}
