/** Writes a whole session into the store of a command, or nothing at all. */

import { codedError } from "../../base/support/index.ts";
import { type SessionBundle, writeSession, type WriteSessionOptions } from "../../runtime/log/index.ts";
import { sessionsFolder } from "../config/index.ts";
import { chosenDatabase, openDatabase, type StoreFlags } from "./open-store.ts";

export type PutOptions = Pick<WriteSessionOptions, "id" | "signal" | "onProgress">;

/** If the id is taken, the error is `session_exists`. */
export async function putSession(
  flags: StoreFlags,
  whole: Pick<SessionBundle, "lines" | "blobs">,
  options: PutOptions,
): Promise<void> {
  const database = chosenDatabase(flags);
  if (database === undefined) {
    await writeSession(sessionsFolder(), whole, options);
    return;
  }
  const { id, signal, onProgress } = options;
  const { lines, blobs } = whole;
  const all = [...blobs.values()].reduce((sum, { length }) => sum + length, lines.length);
  const store = await openDatabase(database);
  onProgress?.(0, all);
  if (signal?.aborted === true)
    throw codedError("stopped", `stopped before session "${id}" was in place: nothing was written`);
  await store.create(id, { events: [], lines, blobs });
  onProgress?.(all, all);
}
