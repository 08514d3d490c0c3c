/**
 * Replaces a file as a whole: a temporary file in the same directory, synced, then renamed. A reader sees the old
 * content or the new, never a mixture; a crash leaves one of the two. An existing file's mode is kept. Changes under
 * one working directory run one after another, because calls run in parallel and two edits of one file must not undo
 * each other.
 */

import { randomUUID } from "node:crypto";
import { constants, realpathSync } from "node:fs";
import { access, open, rename, unlink } from "node:fs/promises";

import { fileError } from "./file-error.ts";
import { closing, openWriteTarget, type WriteTarget } from "./workspace.ts";

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Resolves to the target; without a `mode`, the file is new. */
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
    // A rename would silently replace a read-only file.
    if (mode !== undefined) await access(at(name), constants.W_OK);
    // Owner-only until the content is complete; for a new file the user's umask applies.
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
    await unlink(temporary).catch(() => {}); // it may never have been created; report the first error
    throw signal.aborted ? error : fileError(error, shown);
  }
}

const tails = new Map<string, Promise<unknown>>();

/** Runs `action` after all changes under this working directory that were requested earlier. */
export async function inTurn<Result>(cwd: string, action: () => Promise<Result>): Promise<Result> {
  const key = realKey(cwd); // synchronous: changes run in the order of the calls
  const mine = (tails.get(key) ?? Promise.resolve()).then(action);
  const settled = mine.catch(() => {});
  tails.set(key, settled);
  try {
    return await mine;
  } finally {
    if (tails.get(key) === settled) tails.delete(key);
  }
}

/** One queue per directory, whichever path its users know it by. */
function realKey(cwd: string): string {
  try {
    return realpathSync.native(cwd);
  } catch {
    return cwd; // it does not exist: the action will report that
  }
}
