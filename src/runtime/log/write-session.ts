/**
 * Writes a whole session into a folder of sessions, or nothing at all. It writes the blobs first, then puts the log in
 * place: by a link that fails if the name is taken, or by a rename that replaces it. If the process is killed at any
 * point, the folder holds either the old or the new session, and the next such write removes any leftovers
 * (leftovers.ts).
 */

import { linkSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, utimesSync } from "node:fs";
import { join, resolve } from "node:path";
import { setImmediate as yieldToLoop } from "node:timers/promises";

import { isThere } from "../../base/files/index.ts";
import { codedError, codeOf, messageOf, ThroughlineError } from "../../base/support/index.ts";
import type { SessionBundle } from "./bundle.ts";
import { NEW, removeUnfinished, sweepFolder } from "./leftovers.ts";
import { assertWritable } from "./log-size.ts";
import { locked, sessionExists } from "./memory-store.ts";
import { makeFolder } from "./session-folder.ts";
import { assertSessionId } from "./stamp.ts";
import { SUMMARY } from "./summary-file.ts";
import { WAITING } from "./waiting-file.ts";
import { beginFile, syncFolder, UNFINISHED, type UnfinishedFile, writeWholeFile } from "./whole-file.ts";
import { acquireWriterLock } from "./writer-lock.ts";

export interface WriteSessionOptions {
  readonly id: string;
  /** Replaces the session of this name, and removes all files that belonged to it, once the new one is in place. */
  readonly replace?: boolean;
  /** When it was last written, in milliseconds since 1970. Default: now. */
  readonly modifiedAt?: number | undefined;
  /** Stops before the session is in place; nothing is written then. */
  readonly signal?: AbortSignal;
  /** Called with the number of bytes written and the total. */
  readonly onProgress?: (done: number, all: number) => void;
}

type Whole = Pick<SessionBundle, "lines" | "blobs">;

export async function writeSession(
  folder: string,
  bundle: Whole,
  options: WriteSessionOptions,
): Promise<string> {
  const { id, replace = false } = options;
  assertSessionId(id);
  assertWritable(bundle.lines, id);
  makeFolder(resolve(folder));
  const root = realpathSync(resolve(folder));
  const path = join(root, `${id}.jsonl`);
  const lock = await acquireWriterLock(path);
  // If the session exists, say so, even if it is locked.
  if (!lock.held) throw !replace && isThere(path) ? sessionExists(id) : locked(id, lock.holder);
  try {
    if (!replace && isThere(path)) throw sessionExists(id);
    removeUnfinished(root, id);
    await sweepFolder(root);
    await put(root, bundle, options);
    const { modifiedAt } = options;
    if (modifiedAt !== undefined)
      asFarAsPossible(() => utimesSync(path, modifiedAt / 1000, modifiedAt / 1000));
    confirm(root, bundle, options);
    return path;
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw codedError(
      "log_write_failed",
      `could not write session "${id}": ${messageOf(error)}. Nothing was changed`,
      error,
    );
  } finally {
    await lock.release();
  }
}

/** The session is already in place here, so a failure must neither claim that nothing was changed nor undo it. */
function confirm(root: string, { blobs }: Whole, { id, replace = false }: WriteSessionOptions): void {
  try {
    syncFolder(root);
    if (replace) removeLeftovers(root, id, blobs);
    asFarAsPossible(() => rmSync(join(root, `${id}${NEW}`), { force: true }));
  } catch (error) {
    const next = replace
      ? "Files of the old session may remain. Run the command again"
      : "A loss of power now could remove it again. Check the disk";
    throw codedError(
      "log_not_confirmed",
      `session "${id}" is in place, but the disk failed after that: ${messageOf(error)}. ${next}`,
      error,
    );
  }
}

async function put(root: string, whole: Whole, options: WriteSessionOptions): Promise<void> {
  const { id, replace = false } = options;
  const path = join(root, `${id}.jsonl`);
  const blobFolder = join(root, `${id}.blobs`);
  // Existing blobs may belong to a log that was moved away, so new ones are added to them.
  const own = whole.blobs.size > 0 && !isThere(blobFolder);
  const putInto = own ? `${blobFolder}${UNFINISHED}` : blobFolder;
  const kept = new Set(own || !isThere(blobFolder) ? [] : readdirSync(blobFolder));
  const log = beginFile(path);
  try {
    await writeAll(log, whole, putInto, options);
    if (replace) log.rename(path);
    else if (own) placeTogether(root, id, log, putInto);
    else log.link(path);
  } catch (error) {
    log.discard();
    asFarAsPossible(() => {
      removeUnfinished(root, id);
      if (!own)
        for (const name of whole.blobs.keys())
          if (!kept.has(name)) rmSync(join(blobFolder, name), { force: true });
    });
    throw codeOf(error) === "EEXIST" ? sessionExists(id) : error;
  }
}

/** Does as much as the disk allows. The caller reports the original error; the next writer removes the rest. */
function asFarAsPossible(work: () => void): void {
  try {
    work();
  } catch {
    // leftovers.ts
  }
}

const CHUNK_BYTES = 4 * 1024 * 1024;

async function writeAll(
  log: UnfinishedFile,
  { lines, blobs }: Whole,
  blobFolder: string,
  { signal, onProgress, id }: WriteSessionOptions,
): Promise<void> {
  const all = [...blobs.values()].reduce((sum, { length }) => sum + length, lines.length);
  let done = 0;
  /** Lets the signal take effect between two chunks. */
  const wrote = async (bytes: number): Promise<void> => {
    done += bytes;
    onProgress?.(done, all);
    if (signal !== undefined) await yieldToLoop();
    if (signal?.aborted === true)
      throw codedError("stopped", `stopped before session "${id}" was in place: nothing was written`);
  };
  if (blobs.size > 0) mkdirSync(blobFolder, { recursive: true, mode: 0o700 });
  for (const [name, bytes] of blobs) {
    writeWholeFile(join(blobFolder, name), bytes);
    await wrote(bytes.length);
  }
  for (let at = 0; at < lines.length; at += CHUNK_BYTES) {
    const chunk = lines.subarray(at, at + CHUNK_BYTES);
    log.write(chunk);
    await wrote(chunk.length);
  }
}

/**
 * Two renames cannot be atomic. Until `<id>.jsonl` exists, the complete log under its second name marks whose the blobs
 * are.
 */
function placeTogether(root: string, id: string, log: UnfinishedFile, blobs: string): void {
  const fresh = join(root, `${id}${NEW}`);
  log.rename(fresh);
  syncFolder(root);
  renameSync(blobs, join(root, `${id}.blobs`));
  linkSync(fresh, join(root, `${id}.jsonl`));
}

/**
 * Whether the file belongs to the session but not to a copy of it: the scratch journal, summary, torn tails and waiting
 * turns.
 */
export function standsBeside(name: string, id: string): boolean {
  return (
    name === `${id}.live` ||
    name === `${id}${SUMMARY}` ||
    name.startsWith(`${id}.torn-`) ||
    name.startsWith(`${id}${WAITING}`)
  );
}

/** Removes what belonged to the replaced log: it may hold something that the new one must not. */
function removeLeftovers(root: string, id: string, blobs: ReadonlyMap<string, unknown>): void {
  for (const name of readdirSync(root)) {
    if (standsBeside(name, id)) rmSync(join(root, name), { recursive: true, force: true });
  }
  const blobFolder = join(root, `${id}.blobs`);
  if (!isThere(blobFolder)) return;
  for (const name of readdirSync(blobFolder)) {
    if (!blobs.has(name)) rmSync(join(blobFolder, name), { force: true });
  }
}
