/** Whether a path exists. */

import { statSync } from "node:fs";

import { codedError, codeOf, messageOf } from "../support/index.ts";

/**
 * Unlike `existsSync`, which also returns false if the disk cannot be read, so that an existing file would be
 * overwritten or left behind.
 */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return false; // a file has the name of its folder
    throw codedError(
      "file_failed",
      `cannot tell whether ${path} exists: ${messageOf(error)}. Fix that and try again`,
      error,
    );
  }
}
