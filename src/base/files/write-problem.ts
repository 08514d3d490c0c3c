/**
 * Explains why a file could not be written, in terms of the name the user gave. Files are first written under a temporary
 * name, which would mean nothing to the user.
 */

import { existsSync } from "node:fs";
import { dirname } from "node:path";

import { codeOf, readProblem } from "../support/index.ts";

export function writeProblem(error: unknown, path: string): string {
  const folder = dirname(path);
  if (codeOf(error) === "ENOENT" && !existsSync(folder)) return `the folder ${folder} does not exist`;
  return readProblem(error);
}
