/**
 * What a process that was killed on its way left in a folder of sessions, and who takes it away: the next one that
 * writes a whole session there (import, fork, erase, repair), for each session whose lock it gets. A session itself is
 * never touched, and of what stands without one only what is known to be unfinished.
 */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { isThere } from "../../base/files/index.ts";
import { syncFolder } from "./whole-file.ts";
import { acquireWriterLock } from "./writer-lock.ts";

/** A log that is whole but not in place yet. While it stands there without its log, the blobs are part of it. */
export const NEW = ".jsonl.new";

const TEMPORARY = /\.\d+\.tmp$/;

/** Of every session of the folder that nobody holds. */
export async function sweepFolder(root: string): Promise<void> {
  const ids = readdirSync(root).flatMap((name) =>
    TEMPORARY.test(name) || name.endsWith(NEW) ? [name.slice(0, name.indexOf("."))] : [],
  );
  for (const id of new Set(ids)) {
    const lock = await acquireWriterLock(join(root, `${id}.jsonl`));
    if (!lock.held) continue; // it is under way
    try {
      removeUnfinished(root, id);
    } finally {
      await lock.release();
    }
  }
}

/** Whoever calls this holds the session's lock. */
export function removeUnfinished(root: string, id: string): void {
  const names = readdirSync(root).filter((name) => name.startsWith(`${id}.`));
  const blobs = join(root, `${id}.blobs`);
  if (names.includes(`${id}${NEW}`)) {
    // The blobs first: without this mark nobody could tell that they belong to nothing.
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
