/**
 * Decides which session a command uses: a new one, the last one of this directory, or one by its id, a unique prefix of
 * the id, or its title.
 */

import { closestTo, codedError, codeOf, messageOf } from "../../base/support/index.ts";
import { SESSION_ID, type Store } from "../../runtime/log/index.ts";
import { inertLine } from "./inert-text.ts";

/** Shows the user a warning that does not stop the command. */
export type Warn = (text: string) => void;

export interface SessionChoice {
  readonly continueLast: boolean;
  readonly id: string | undefined;
}

/** Returns the id of an existing session, or undefined for a new one. */
export async function chooseSession(
  store: Store,
  choice: SessionChoice,
  cwd: string,
  warn: Warn,
): Promise<string | undefined> {
  if (choice.id !== undefined) return byName(store, choice.id);
  return choice.continueLast ? lastOf(store, cwd, warn, "omit -c to start one") : undefined;
}

/** Finds the session for a command that needs one: by name, or the last one of this directory. */
export async function resolveSession(
  store: Store,
  choice: {
    readonly name: string | undefined;
    readonly last: boolean;
    /** The command also takes files, and the name is not a file. */
    readonly orFile?: boolean;
  },
  cwd: string,
  warn: Warn = ignore,
): Promise<string> {
  if (choice.last || choice.name === undefined) {
    if (choice.last && choice.name === undefined) return lastOf(store, cwd, warn, "start one with a prompt");
    const what = choice.orFile === true ? "a session or a file" : "a session";
    throw codedError(
      "usage",
      choice.last ? `give ${what} or --last, not both` : `give ${what}, or use --last`,
    );
  }
  return byName(store, choice.name, choice.orFile === true ? "file or session" : "session");
}

/** Finds a session by id, a unique prefix of the id, or the title. */
async function byName(store: Store, name: string, what = "session"): Promise<string> {
  try {
    return await byPrefix(store, name, what);
  } catch (error) {
    const titled = await byTitle(store, name);
    if (titled.length === 0 && codeOf(error) === "session_not_found")
      throw await withSuggestion(store, name, error);
    if (titled.length === 0) throw error;
    if (titled.length === 1 && titled[0] !== undefined) return titled[0];
    throw codedError(
      "session_ambiguous",
      `"${inertLine(name, 64)}" is the title of ${titled.length} sessions (${some(titled)}): use an id instead`,
    );
  }
}

const MOST_TITLES = 500;

/** Adds the id or the title that the user may have meant. */
async function withSuggestion(store: Store, name: string, error: unknown): Promise<Error> {
  const known: string[] = [];
  for await (const { id, summary } of store.list({ limit: MOST_TITLES }))
    known.push(id, ...(summary?.title === undefined ? [] : [summary.title]));
  const meant = closestTo(name, known);
  const hint = meant === undefined ? "" : `; did you mean "${inertLine(meant, 64)}"?`;
  return codedError("session_not_found", `${messageOf(error)}${hint}`, error);
}

function some(ids: readonly string[]): string {
  return `${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ", …" : ""}`;
}

async function byTitle(store: Store, title: string): Promise<readonly string[]> {
  const found: string[] = [];
  // An unreadable log has no title; opening it by its id reports what is wrong with it.
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
  // It exists but is not listed, so it is a link or a pipe. Opening it reports that.
  if (SESSION_ID.test(text) && (await store.exists(text))) return text;
  if (found.length === 0) {
    throw codedError(
      "session_not_found",
      `no ${what} "${inertLine(text, 64)}" (throughline sessions lists all sessions)`,
    );
  }
  throw codedError(
    "session_ambiguous",
    `${found.length} session ids begin with "${inertLine(text, 64)}" (${some(found)}): give a longer prefix`,
  );
}

async function lastOf(store: Store, cwd: string, warn: Warn, instead: string): Promise<string> {
  const unreadable: string[] = [];
  for await (const { id, summary, problem } of store.list()) {
    if (problem !== undefined) unreadable.push(`${id} (${problem})`);
    // A person continues what a person began, not what a tool of it ran.
    if (summary?.cwd !== cwd || summary.subAgentOf !== undefined) continue;
    if (unreadable.length > 0) warn(`skipped newer sessions that cannot be read: ${unreadable.join("; ")}`);
    return id;
  }
  if (unreadable.length > 0) {
    throw codedError("log_damaged", `no session in this directory can be read: ${unreadable.join("; ")}`);
  }
  throw codedError("session_not_found", `no session in this directory yet: ${instead}`);
}

function ignore(): void {
  // Commands that only read a session print its id anyway.
}
