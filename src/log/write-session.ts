/**
 * Puts a whole session into a folder of sessions: complete or not there. Blobs first, then the log under its name by a
 * link that fails if there is one already, or by a rename that replaces it.
 *
 * @module
 */

import { existsSync, linkSync, mkdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";

import { codeOf, messageOf, ThroughlineError } from "../support/index.ts";
import type { SessionBundle } from "./bundle.ts";
import { makeFolder } from "./file-store.ts";
import { locked } from "./memory-store.ts";
import { assertSessionId } from "./stamp.ts";
import { syncFolder, writeWholeFile } from "./whole-file.ts";
import { acquireWriterLock } from "./writer-lock.ts";

export interface WriteSessionOptions {
  readonly id: string;
  /** The session of this name goes, with everything beside it, when the new one is in place. */
  readonly replace?: boolean;
}

export async function writeSession(
  folder: string,
  bundle: Pick<SessionBundle, "lines" | "blobs">,
  { id, replace = false }: WriteSessionOptions,
): Promise<string> {
  assertSessionId(id);
  makeFolder(resolve(folder));
  const root = realpathSync(resolve(folder));
  const path = join(root, `${id}.jsonl`);
  const lock = await acquireWriterLock(path);
  if (!lock.held) throw locked(id, lock.holder);
  try {
    if (!replace && existsSync(path)) throw exists(id);
    await put(root, id, bundle, replace);
    return path;
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw new ThroughlineError({
      code: "log_write_failed",
      message: `could not write session "${id}": ${messageOf(error)}. Nothing was changed`,
      cause: error,
    });
  } finally {
    await lock.release();
  }
}

async function put(
  root: string,
  id: string,
  { lines, blobs }: Pick<SessionBundle, "lines" | "blobs">,
  replace: boolean,
): Promise<void> {
  const path = join(root, `${id}.jsonl`);
  const fresh = `${path}.new`;
  const blobFolder = join(root, `${id}.blobs`);
  const hadBlobs = existsSync(blobFolder);
  try {
    if (blobs.size > 0) mkdirSync(blobFolder, { recursive: true, mode: 0o700 });
    for (const [name, bytes] of blobs) writeWholeFile(join(blobFolder, name), bytes);
    writeWholeFile(fresh, lines);
    if (replace) renameSync(fresh, path);
    else linkSync(fresh, path);
    syncFolder(root);
  } catch (error) {
    if (!hadBlobs) rmSync(blobFolder, { recursive: true, force: true });
    throw codeOf(error) === "EEXIST" ? exists(id) : error;
  } finally {
    rmSync(fresh, { force: true });
  }
  if (replace) await removeLeftovers(root, id, blobs);
}

/** What stood beside the log that was replaced: it may hold what the new one must not. */
async function removeLeftovers(root: string, id: string, blobs: ReadonlyMap<string, unknown>): Promise<void> {
  for (const name of await readdir(root)) {
    if (name === `${id}.live` || name.startsWith(`${id}.torn-`)) await rm(join(root, name), { force: true });
  }
  const blobFolder = join(root, `${id}.blobs`);
  if (!existsSync(blobFolder)) return;
  for (const name of await readdir(blobFolder)) {
    if (!blobs.has(name)) await rm(join(blobFolder, name), { force: true });
  }
}

function exists(id: string): ThroughlineError {
  return new ThroughlineError({
    code: "session_exists",
    message: `there is a session "${id}" already: give the new one another id`,
  });
}
