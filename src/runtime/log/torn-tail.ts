/** The unfinished end of a log, kept in a file of its own before it is cut off. */

import { fileProblem, readRegularFile } from "../../base/files/index.ts";
import { codeOf, ThroughlineError } from "../../base/support/index.ts";
import { writeWholeFile } from "./whole-file.ts";

/** A second tear at the same byte has a file of its own; the same bytes again are the same tear, found by another try. */
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
      message: `could not keep the unfinished end of the log in ${path}: ${fileProblem(error)}. The log was not changed`,
      details: { errno: codeOf(error) },
      cause: error,
    });
  }
}

/** By other bytes, or by something that is no file: a link, a pipe, a folder. */
function isTaken(name: string, bytes: Uint8Array): boolean {
  try {
    return !readRegularFile(name).equals(bytes);
  } catch (error) {
    return codeOf(error) !== "ENOENT";
  }
}
