/** The folder that sessions are kept in. */

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { codedError, codeOf, messageOf, type ThroughlineError } from "../../base/support/index.ts";

export function makeFolder(root: string): void {
  try {
    // A folder that was there before keeps its mode: it may be shared on purpose, and the files in it are 0600.
    makeFolders(root);
  } catch (error) {
    throw unusable(root, error);
  }
}

/** Step by step: where a parent can be found but nothing can be made in it (/proc), node's recursive mkdir never returns. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error; // another process was quicker
  }
}

export function unusable(root: string, cause: unknown): ThroughlineError {
  return codedError(
    "store_unusable",
    `cannot use ${root} for sessions: ${messageOf(cause)}. Choose another folder or mend its permissions`,
    cause,
  );
}
