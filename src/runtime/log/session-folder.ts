/** The folder that holds sessions. */

import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { codedError, codeOf, messageOf, type ThroughlineError } from "../../base/support/index.ts";

export function makeFolder(root: string): void {
  try {
    // An existing folder keeps its mode: it may be shared on purpose, and the files in it are 0600.
    makeFolders(root);
  } catch (error) {
    throw unusable(root, error);
  }
}

/**
 * Creates folders one by one: node's recursive mkdir never returns if a parent exists but nothing can be created in it
 * (/proc).
 */
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
    `cannot use ${root} for sessions: ${messageOf(cause)}. Choose another folder or fix its permissions`,
    cause,
  );
}
