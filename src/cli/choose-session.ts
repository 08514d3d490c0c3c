/**
 * Which session a command means: a new one, the last of this directory, or one by its id or a unique beginning of it.
 *
 * @module
 */

import { SESSION_ID, type Store, type StoredSession } from "../log/index.ts";
import { messageOf, ThroughlineError } from "../support/index.ts";
import { inertLine } from "./inert-text.ts";

export interface SessionChoice {
  readonly continueLast: boolean;
  readonly id: string | undefined;
}

/** Undefined: a new session. */
export async function chooseSession(
  store: Store,
  choice: SessionChoice,
  cwd: string,
): Promise<string | undefined> {
  if (choice.id !== undefined) return byPrefix(store, choice.id);
  return choice.continueLast ? lastOf(store, cwd) : undefined;
}

async function byPrefix(store: Store, text: string): Promise<string> {
  const found: string[] = [];
  for await (const { id } of store.list()) {
    if (id === text) return id;
    if (text !== "" && id.startsWith(text)) found.push(id);
  }
  if (found.length === 1 && found[0] !== undefined) return found[0];
  // Not listed and yet there: a link or a pipe. Opening it says so.
  if (SESSION_ID.test(text) && (await store.exists(text))) return text;
  if (found.length === 0) {
    throw new ThroughlineError({
      code: "session_not_found",
      message: `there is no session "${inertLine(text, 64)}"`,
    });
  }
  const some = found.slice(0, 5).join(", ");
  throw new ThroughlineError({
    code: "session_ambiguous",
    message: `"${inertLine(text, 64)}" begins ${found.length} session ids (${some}${found.length > 5 ? ", …" : ""}): give more of it`,
  });
}

async function lastOf(store: Store, cwd: string): Promise<string> {
  const all: StoredSession[] = [];
  for await (const stored of store.list()) all.push(stored);
  const newestFirst = all.toSorted((a, b) => b.modifiedAt - a.modifiedAt);
  const unreadable: string[] = [];
  for (const { id } of newestFirst) {
    try {
      const log = await store.open(id, { mode: "read" });
      const [first] = log.events;
      await log.close();
      if (first?.type === "session_start" && first.cwd === cwd) return id;
    } catch (error) {
      unreadable.push(`${id} (${messageOf(error)})`);
    }
  }
  const also = unreadable.length === 0 ? "" : `; could not read ${unreadable.join("; ")}`;
  throw new ThroughlineError({
    code: "session_not_found",
    message: `there is no session of this directory yet: start one with a prompt${also}`,
  });
}
