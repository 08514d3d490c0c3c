/**
 * Why a file could not be written, in words about the name a person gave: files are made under another name first, and
 * that one says nothing to anybody.
 */

import { existsSync } from "node:fs";
import { dirname } from "node:path";

import { codeOf } from "../../base/support/index.ts";
import { readProblem } from "./read-problem.ts";

export function writeProblem(error: unknown, path: string): string {
  const folder = dirname(path);
  if (codeOf(error) === "ENOENT" && !existsSync(folder)) return `the folder ${folder} does not exist`;
  return readProblem(error);
}
