/**
 * Replaces a file as a whole: temporary file in the same directory, synced, renamed over the name.
 * A reader sees the old content or the new, never a part; a crash leaves one of the two. The mode of an
 * existing file is kept. Changes under one working directory happen one after the other, because calls run
 * in parallel and two edits of one file must not undo each other.
 */

import { randomUUID } from "node:crypto";
import { constants, realpathSync } from "node:fs";
import { access, open, rename, unlink } from "node:fs/promises";

import { fileError } from "./file-error.ts";
import { closing, openWriteTarget, type WriteTarget } from "./workspace.ts";

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Resolves to what was written over; without a `mode` it is a new file. */
export async function writeAtomically(
  cwd: string,
  path: string,
  content: string,
  signal: AbortSignal,
): Promise<Pick<WriteTarget, "mode" | "shown">> {
  return closing(openWriteTarget(cwd, path), async (target) => {
    await replace(target, content, signal);
    return target;
  });
}

async function replace(
  { at, name, mode, shown }: WriteTarget,
  content: string,
  signal: AbortSignal,
): Promise<void> {
  const temporary = at(`.throughline-${randomUUID()}.tmp`);
  try {
    // A rename would replace a read-only file without a question.
    if (mode !== undefined) await access(at(name), constants.W_OK);
    // Narrow until the content is complete; for a new file the user's umask decides.
    const handle = await open(temporary, NEW_FILE, mode === undefined ? 0o666 : 0o600);
    try {
      await handle.writeFile(content);
      if (mode !== undefined) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    signal.throwIfAborted();
    await rename(temporary, at(name));
  } catch (error) {
    await unlink(temporary).catch(() => {}); // it may never have been made; the first error is the one to report
    throw signal.aborted ? error : fileError(error, shown);
  }
}

const tails = new Map<string, Promise<unknown>>();

/** Runs `action` after all changes under this working directory that were asked for before. */
export async function inTurn<Result>(cwd: string, action: () => Promise<Result>): Promise<Result> {
  const key = realKey(cwd); // without waiting: the order of the calls is the order of the changes
  const mine = (tails.get(key) ?? Promise.resolve()).then(action);
  const settled = mine.catch(() => {});
  tails.set(key, settled);
  try {
    return await mine;
  } finally {
    if (tails.get(key) === settled) tails.delete(key);
  }
}

/** One queue for a directory, by whatever path its users know it. */
function realKey(cwd: string): string {
  try {
    return realpathSync.native(cwd);
  } catch {
    return cwd; // it does not exist: the action will say so
  }
}
