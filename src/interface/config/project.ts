/**
 * Finds a project's own files: those between the working directory and the root of its git repository (without a
 * repository, only in the directory itself), and reads the nearest `.throughline/config.json` and `.mcp.json`. Others
 * write these files. So a link out of the project is not followed, because a cloned repository could use it to expose a
 * private file, and an unreadable file is reported but never stops a run.
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
import { type McpFile, readServers } from "./mcp-file.ts";
import { isInside, realPlace } from "./real-places.ts";

const PROJECT_CONFIG = join(".throughline", "config.json");
const PROJECT_MCP = ".mcp.json";

/** Returns the directory and its parents up to the root of its repository. */
export function foldersOf(cwd: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

/** A problem with a file of the project. The file is ignored: others wrote it, so it must not stop a run. */
export interface ProjectProblem {
  readonly file: string;
  readonly code: ErrorCode;
  /** Names the file. */
  readonly message: string;
}

interface Found {
  readonly file: string;
  readonly problem?: ProjectProblem;
}

/** Returns the real path of the project's folder. */
export function projectRoot(cwd: string): string {
  const top = foldersOf(cwd).at(-1) ?? cwd;
  return realPlace(top)?.path ?? top;
}

/** Returns the nearest file of this name, if there is one. */
function nearest(cwd: string, name: string): Found | undefined {
  for (const folder of foldersOf(cwd)) {
    const found = projectFile(join(folder, name), projectRoot(cwd));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns undefined if nothing is there. What is there and cannot be used has a problem. */
export function projectFile(
  file: string,
  root: string,
  wanted: "file" | "folder" = "file",
): Found | undefined {
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  } catch (error) {
    return { file, problem: unreadable(file, messageOf(error)) };
  }
  const place = realPlace(file);
  if (place === undefined) return { file, problem: unreadable(file, "it is a broken link") };
  if (place.kind !== wanted) return { file, problem: unreadable(file, NOT_WANTED[wanted]) };
  return isInside(root, place.path) ? { file } : { file, problem: outside(file) };
}

const NOT_WANTED = { file: "not a regular file", folder: "not a folder" } as const;

export function unreadable(file: string, why: string): ProjectProblem {
  return { file, code: "project_file_unreadable", message: `cannot read ${file}: ${why}` };
}

export function outside(file: string, of = "the project"): ProjectProblem {
  const message = `${file} is a link to a place outside ${of}: replace it with a file`;
  return { file, code: "project_file_outside", message };
}

export function asError({ code, message }: ProjectProblem): ThroughlineError {
  return codedError(code, message);
}

/** What was read of a project's file, or why it is ignored. */
export interface ReadProject<T> {
  readonly found?: T;
  readonly problem?: ProjectProblem;
}

/** The project's settings file. */
export function readProjectConfig(cwd: string): ReadProject<ConfigFile> {
  return readNearest(cwd, PROJECT_CONFIG, readConfigFile);
}

/** The project's `.mcp.json`, which other programs read too. */
export function readProjectMcp(cwd: string): ReadProject<McpFile> {
  return readNearest(cwd, PROJECT_MCP, readServers);
}

/** Never throws, because a file that others wrote must not stop a run. */
function readNearest<T>(cwd: string, name: string, read: (file: string) => T | undefined): ReadProject<T> {
  const place = nearest(cwd, name);
  if (place?.problem !== undefined) return { problem: place.problem };
  if (place === undefined) return {};
  const { file } = place;
  try {
    const found = read(file);
    return found === undefined ? {} : { found };
  } catch (error) {
    return {
      problem: { file, code: asErrorCode(codeOf(error), "config_invalid"), message: messageOf(error) },
    };
  }
}

/** Returns the file that `config set --project` changes: the existing one, or a new one at the root of the project. */
export function projectConfigFile(cwd: string): string {
  return fileToChange(cwd, PROJECT_CONFIG);
}

/** The same for `mcp add --project`. */
export function projectMcpFile(cwd: string): string {
  return fileToChange(cwd, PROJECT_MCP);
}

function fileToChange(cwd: string, name: string): string {
  const found = nearest(cwd, name);
  if (found?.problem?.code === "project_file_outside") throw asError(found.problem);
  return found?.file ?? join(foldersOf(cwd).at(-1) ?? cwd, name);
}
