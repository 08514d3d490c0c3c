/** Saves the unfinished end of a log to its own file before it is cut off. */

import { fileProblem, readRegularFile } from "../../base/files/index.ts";
import { codeOf, ThroughlineError } from "../../base/support/index.ts";
import { writeWholeFile } from "./whole-file.ts";

/**
 * A second tear at the same byte gets its own file. The same bytes are the same tear, found again after an interrupted
 * attempt.
 */
export function saveAside(path: string, bytes: Uint8Array): string {
  try {
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? path : `${path}-${count}`;
      if (isTaken(name, bytes)) continue;
      writeWholeFile(name, bytes);
      return name;
    }
  } catch (error) {
    throw new ThroughlineError({
      code: "log_write_failed",
      message: `could not save the unfinished end of the log to ${path}: ${fileProblem(error)}. The log was not changed`,
      details: { errno: codeOf(error) },
      cause: error,
    });
  }
}

/** By other bytes, or by something that is not a regular file: a link, a pipe, a folder. */
function isTaken(name: string, bytes: Uint8Array): boolean {
  try {
    return !readRegularFile(name).equals(bytes);
  } catch (error) {
    return codeOf(error) !== "ENOENT";
  }
}
