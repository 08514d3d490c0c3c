/**
 * Whole files of a folder of sessions, by the names of the log's format: what a crash leaves of one on the way is called
 * `….<pid>.tmp`, and the next holder of the session's lock cleans it up (leftovers.ts).
 */

import { rmSync } from "node:fs";
import { dirname } from "node:path";

import { syncFolder, UnfinishedFile } from "../../base/files/index.ts";

export { syncFolder, type UnfinishedFile } from "../../base/files/index.ts";

/** The end of the name of what is not finished. Another process on another machine must not write to ours. */
export const UNFINISHED = `.${process.pid}.tmp`;

/** Complete or absent. */
export function writeWholeFile(path: string, bytes: Uint8Array): void {
  const file = beginFile(path);
  file.write(bytes);
  file.rename(path);
  syncFolder(dirname(path));
}

/** Its name is this process's own: what stands under it was left by an earlier try. */
export function beginFile(path: string): UnfinishedFile {
  const temporary = `${path}${UNFINISHED}`;
  rmSync(temporary, { force: true });
  return new UnfinishedFile(temporary);
}
