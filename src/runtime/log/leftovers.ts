/**
 * Removes what a killed process left unfinished in a folder of sessions. The next process that writes a whole session
 * there (import, fork, erase, repair) does it, for each session whose lock it gets. It never touches a session itself,
 * and removes a file without a session only if it is known to be unfinished.
 */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { isThere } from "../../base/files/index.ts";
import { syncFolder } from "./whole-file.ts";
import { acquireWriterLock } from "./writer-lock.ts";

/** A complete log that is not in place yet. While it exists without `<id>.jsonl`, the blobs belong to it. */
export const NEW = ".jsonl.new";

const TEMPORARY = /\.\d+\.tmp$/;

/** Cleans up every session of the folder that is not locked. */
export async function sweepFolder(root: string): Promise<void> {
  const ids = readdirSync(root).flatMap((name) =>
    TEMPORARY.test(name) || name.endsWith(NEW) ? [name.slice(0, name.indexOf("."))] : [],
  );
  for (const id of new Set(ids)) {
    const lock = await acquireWriterLock(join(root, `${id}.jsonl`));
    if (!lock.held) continue; // it is being written
    try {
      removeUnfinished(root, id);
    } finally {
      await lock.release();
    }
  }
}

/** The caller must hold the session's lock. */
export function removeUnfinished(root: string, id: string): void {
  const names = readdirSync(root).filter((name) => name.startsWith(`${id}.`));
  const blobs = join(root, `${id}.blobs`);
  if (names.includes(`${id}${NEW}`)) {
    // The blobs go first: without this marker, nothing shows that they are orphaned.
    if (!names.includes(`${id}.jsonl`)) rmSync(blobs, { recursive: true, force: true });
    syncFolder(root);
    rmSync(join(root, `${id}${NEW}`), { force: true });
  }
  for (const name of names)
    if (TEMPORARY.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  removeUnfinishedBlobs(blobs);
}

export function removeUnfinishedBlobs(folder: string): void {
  if (!isThere(folder)) return;
  for (const name of readdirSync(folder))
    if (TEMPORARY.test(name)) rmSync(join(folder, name), { force: true });
}
