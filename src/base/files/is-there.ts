/** Whether there is something under a name. */

import { statSync } from "node:fs";

import { codedError, codeOf, messageOf } from "../support/index.ts";

/**
 * Not `existsSync`: that says no, too, when the disk cannot be read, and what is there is then written over or left
 * behind.
 */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return false;
    throw codedError(
      "file_failed",
      `cannot tell whether ${path} is there: ${messageOf(error)}. Run it again once that is solved`,
      error,
    );
  }
}
