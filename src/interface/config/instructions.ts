/**
 * Reads the instructions that files give the model: the user's own `AGENTS.md` next to config.json, and every
 * `AGENTS.md` of the project from the root of its repository down to the working directory. In a folder without one,
 * `CLAUDE.md` is read instead. The project's files share a budget, because they are part of every request; the nearest
 * file gets its share first. Nothing here ever stops a run.
 */

import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";

import { readProblem } from "../../base/support/index.ts";
import { type Environment, userConfigFile } from "./paths.ts";
import { foldersOf, projectFile, type ProjectProblem, projectRoot, unreadable } from "./project.ts";
import { readHead } from "./read-plain-file.ts";

const INSTRUCTIONS = "AGENTS.md";
/** What other programs call the same file. */
const FALLBACK = "CLAUDE.md";
/** For the user's file, and for all files of the project together. */
const MAX_BYTES = 32 * 1024;

export interface Instructions {
  readonly file: string;
  readonly layer: "user" | "project";
  readonly text: string;
  /** The size of the file, which may be more than was read. */
  readonly bytes: number;
  readonly cut: boolean;
}

export interface ReadInstructions {
  /** The user's file, then the project's from the root down: the nearest is last. */
  readonly found: readonly Instructions[];
  readonly problems: readonly ProjectProblem[];
}

export interface InstructionOptions {
  /** Whether to read the project's files. */
  readonly project: boolean;
  readonly env?: Environment;
}

export function readInstructions(cwd: string, options: InstructionOptions): ReadInstructions {
  const problems: ProjectProblem[] = [];
  const ofTheProject: Instructions[] = [];
  const root = projectRoot(cwd);
  let left = MAX_BYTES;
  for (const folder of options.project ? foldersOf(cwd) : []) {
    const place = [INSTRUCTIONS, FALLBACK]
      .map((name) => projectFile(join(folder, name), root))
      .find((one) => one !== undefined);
    if (place?.problem !== undefined) problems.push(place.problem);
    if (place === undefined || place.problem !== undefined) continue;
    const read = readWithin(place.file, "project", left, problems);
    if (read === undefined) continue;
    left -= Math.min(left, read.bytes);
    ofTheProject.unshift(read);
  }
  const own = join(dirname(userConfigFile(options.env)), INSTRUCTIONS);
  const taken = ofTheProject.some(({ file }) => file === own);
  const user = taken || !isThere(own) ? undefined : readWithin(own, "user", MAX_BYTES, problems);
  return { found: [...(user === undefined ? [] : [user]), ...ofTheProject], problems };
}

function readWithin(
  file: string,
  layer: Instructions["layer"],
  most: number,
  problems: ProjectProblem[],
): Instructions | undefined {
  try {
    const { head, bytes } = readHead(file, most);
    const cut = bytes > most;
    const text = new TextDecoder().decode(head);
    // Cut at a line break, so that no half sentence is obeyed.
    const whole = cut ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
    return { file, layer, text: whole.trim(), bytes, cut };
  } catch (error) {
    problems.push(unreadable(file, readProblem(error)));
    return undefined;
  }
}

/** A broken link is there: it is reported. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
