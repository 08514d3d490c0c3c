/** Removes a session with all its files. The log goes last: after a kill in between, the session still has a name and can be removed again. */

import { statSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";

import { isThere } from "../../base/files/index.ts";
import { codedError } from "../../base/support/index.ts";
import { locked, notFound } from "./memory-store.ts";
import { assertSessionId } from "./stamp.ts";
import { SUMMARY } from "./summary-file.ts";
import { acquireWriterLock } from "./writer-lock.ts";

export interface RemoveOptions {
  /** Removes the session only if its log has exactly this size. */
  readonly bytes?: number | undefined;
}

export async function removeSession(folder: string, id: string, options: RemoveOptions = {}): Promise<void> {
  assertSessionId(id);
  const root = resolve(folder);
  const path = join(root, `${id}.jsonl`);
  if (!isThere(path)) throw notFound(id);
  const lock = await acquireWriterLock(path);
  if (!lock.held) throw locked(id, lock.holder);
  try {
    if (options.bytes !== undefined && statSync(path).size !== options.bytes)
      throw codedError(
        "session_locked",
        `session "${id}" was changed after it was copied, so it was not removed. Compare the two and remove one`,
      );
    const beside = (await readdir(root)).filter((name) => name.startsWith(`${id}.`));
    // The lock removes itself.
    const first = beside.filter((name) => name !== `${id}.jsonl` && name !== `${id}.lock`);
    for (const name of [...first, `${id}.jsonl`])
      await rm(join(root, name), { recursive: true, force: true });
    // A list that ran while the log was still there may have written a new summary.
    await rm(join(root, `${id}${SUMMARY}`), { recursive: true, force: true });
  } finally {
    await lock.release();
  }
}
