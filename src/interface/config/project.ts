/**
 * What a project says for itself: `.throughline/config.json` and `AGENTS.md`, the nearest from the working directory up
 * to the root of its git repository (without one: only the directory itself). Files of a project are written by others:
 * a link that leads out of it is not followed, so that a cloned repository cannot have a private file read aloud, and a
 * file that cannot be read is a problem to tell, never an error that stops a run.
 */

import { existsSync, lstatSync } from "node:fs";
import { dirname, join } from "node:path";

import {
  asErrorCode,
  codedError,
  codeOf,
  type ErrorCode,
  messageOf,
  type ThroughlineError,
} from "../../base/support/index.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { readHead } from "./read-plain-file.ts";
import { isInside, realPlace } from "./real-places.ts";

const PROJECT_CONFIG = join(".throughline", "config.json");
const INSTRUCTIONS = "AGENTS.md";
/** More than any project needs to say with every request. */
const MAX_INSTRUCTION_BYTES = 32 * 1024;

/** From the directory upwards to the root of its repository. */
function foldersOf(cwd: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

/** What is wrong with a file of the project. The file is then ignored: others wrote it, so it must not stop a run. */
export interface ProjectProblem {
  readonly file: string;
  readonly code: ErrorCode;
  /** Names the file. */
  readonly message: string;
}

interface Found {
  readonly file: string;
  /** The project's folder, without links. */
  readonly root: string;
  readonly problem?: ProjectProblem;
}

/** The nearest file of this name; undefined when there is none. */
function nearest(cwd: string, name: string): Found | undefined {
  const folders = foldersOf(cwd);
  for (const folder of folders) {
    const file = join(folder, name);
    const top = folders.at(-1) ?? cwd;
    const root = realPlace(top)?.path ?? top;
    try {
      if (lstatSync(file, { throwIfNoEntry: false }) === undefined) continue;
    } catch (error) {
      return { file, root, problem: unreadable(file, messageOf(error)) };
    }
    const place = realPlace(file);
    if (place === undefined)
      return { file, root, problem: unreadable(file, "it is a link that leads nowhere") };
    if (place.kind !== "file") return { file, root, problem: unreadable(file, "it is not a regular file") };
    return isInside(root, place.path) ? { file, root } : { file, root, problem: outside(file) };
  }
  return undefined;
}

function unreadable(file: string, why: string): ProjectProblem {
  return { file, code: "project_file_unreadable", message: `cannot read ${file}: ${why}` };
}

function outside(file: string): ProjectProblem {
  const message = `${file} is a link that leads out of the project, so it is not read: replace it by a file`;
  return { file, code: "project_file_outside", message };
}

export function asError({ code, message }: ProjectProblem): ThroughlineError {
  return codedError(code, message);
}

export interface ProjectConfig extends ConfigFile {
  readonly root: string;
}

export interface ReadProject {
  readonly config?: ProjectConfig;
  readonly problem?: ProjectProblem;
}

/** Never throws: what others wrote must not stop a run. */
export function readProjectConfig(cwd: string): ReadProject {
  const found = nearest(cwd, PROJECT_CONFIG);
  if (found?.problem !== undefined) return { problem: found.problem };
  if (found === undefined) return {};
  const { file, root } = found;
  try {
    const config = readConfigFile(file);
    return config === undefined ? {} : { config: { ...config, root } };
  } catch (error) {
    return {
      problem: { file, code: asErrorCode(codeOf(error), "config_invalid"), message: messageOf(error) },
    };
  }
}

/** Where `config set --project` writes: the file there is, else one at the root of the project. */
export function projectConfigFile(cwd: string): string {
  const found = nearest(cwd, PROJECT_CONFIG);
  if (found?.problem?.code === "project_file_outside") throw asError(found.problem);
  return found?.file ?? join(foldersOf(cwd).at(-1) ?? cwd, PROJECT_CONFIG);
}

export interface ProjectInstructions {
  readonly file: string;
  readonly text: string;
  /** Bytes of the file; more than was read when it is too large. */
  readonly bytes: number;
  readonly cut: boolean;
}

export interface ReadInstructions {
  readonly found?: ProjectInstructions;
  readonly problem?: ProjectProblem;
}

/** Never throws, for the same reason. */
export function readProjectInstructions(cwd: string): ReadInstructions {
  const nearestFile = nearest(cwd, INSTRUCTIONS);
  if (nearestFile?.problem !== undefined) return { problem: nearestFile.problem };
  if (nearestFile === undefined) return {};
  const { file } = nearestFile;
  try {
    const { head, bytes } = readHead(file, MAX_INSTRUCTION_BYTES);
    const cut = bytes > MAX_INSTRUCTION_BYTES;
    const text = new TextDecoder().decode(head);
    // At a line, so that no half sentence is obeyed.
    const whole = cut ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
    return { found: { file, text: whole.trim(), bytes, cut } };
  } catch (error) {
    return codeOf(error) === "ENOENT" ? {} : { problem: unreadable(file, messageOf(error)) };
  }
}
