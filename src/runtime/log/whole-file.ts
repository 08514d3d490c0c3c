/**
 * Writes whole files in a folder of sessions, with the names that the log format defines. A crash leaves an unfinished
 * one as `….<pid>.tmp`, and the next holder of the session's lock removes it (leftovers.ts).
 */

import { rmSync } from "node:fs";
import { dirname } from "node:path";

import { syncFolder, UnfinishedFile } from "../../base/files/index.ts";

export { syncFolder, type UnfinishedFile } from "../../base/files/index.ts";

/** Suffix of unfinished files. It has the process id, so that another process does not write to ours. */
export const UNFINISHED = `.${process.pid}.tmp`;

/** Writes the complete file or nothing. */
export function writeWholeFile(path: string, bytes: Uint8Array): void {
  const file = beginFile(path);
  file.write(bytes);
  file.rename(path);
  syncFolder(dirname(path));
}

/** The name is unique to this process, so an existing file was left by an earlier attempt. */
export function beginFile(path: string): UnfinishedFile {
  const temporary = `${path}${UNFINISHED}`;
  rmSync(temporary, { force: true });
  return new UnfinishedFile(temporary);
}
