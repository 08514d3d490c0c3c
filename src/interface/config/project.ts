/**
 * What a project says for itself: `.throughline/config.json` and `AGENTS.md`, the nearest from the working directory up
 * to the root of its git repository (without one: only the directory itself). Files of a project are written by others:
 * a link that leads out of it is not followed, so that a cloned repository cannot have a private file read aloud.
 */

import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";

import { codedError, codeOf, messageOf } from "../../base/support/index.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";

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

/** The nearest file of this name; undefined when there is none. */
function nearest(cwd: string, name: string): string | undefined {
  const folders = foldersOf(cwd);
  for (const folder of folders) {
    const file = join(folder, name);
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const root = realpathSync(folders.at(-1) ?? cwd);
    const real = realpathSync(file);
    if (real.startsWith(root.endsWith(sep) ? root : root + sep)) return file;
    throw codedError(
      "project_file_outside",
      `${file} is a link that leads out of the project, so it is not read: replace it by a file`,
    );
  }
  return undefined;
}

export interface ProjectConfig extends ConfigFile {
  readonly sha256: string;
}

export function readProjectConfig(cwd: string): ProjectConfig | undefined {
  const file = nearest(cwd, PROJECT_CONFIG);
  const found = file === undefined ? undefined : readConfigFile(file);
  if (found === undefined) return undefined;
  return { ...found, sha256: createHash("sha256").update(found.text).digest("hex") };
}

/** Where `config set --project` writes: the file there is, else one at the root of the project. */
export function projectConfigFile(cwd: string): string {
  return nearest(cwd, PROJECT_CONFIG) ?? join(foldersOf(cwd).at(-1) ?? cwd, PROJECT_CONFIG);
}

export interface ProjectInstructions {
  readonly file: string;
  readonly text: string;
  /** Bytes of the file; more than was read when it is too large. */
  readonly bytes: number;
  readonly cut: boolean;
}

export function readProjectInstructions(cwd: string): ProjectInstructions | undefined {
  const file = nearest(cwd, INSTRUCTIONS);
  if (file === undefined) return undefined;
  try {
    const { head, bytes } = readHead(file);
    const cut = bytes > MAX_INSTRUCTION_BYTES;
    const text = new TextDecoder().decode(head);
    // At a line, so that no half sentence is obeyed.
    return { file, text: (cut ? text.slice(0, text.lastIndexOf("\n") + 1) : text).trim(), bytes, cut };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw codedError(
      "instructions_unreadable",
      `cannot read ${file}: ${messageOf(error)}; --no-project-instructions goes on without it`,
      error,
    );
  }
}

function readHead(file: string): { readonly head: Uint8Array; readonly bytes: number } {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(MAX_INSTRUCTION_BYTES);
    let size = 0;
    for (;;) {
      const read = readSync(descriptor, buffer, size, buffer.length - size, size);
      size += read;
      if (read === 0 || size === buffer.length) break;
    }
    return { head: buffer.subarray(0, size), bytes: Math.max(size, statSync(file).size) };
  } finally {
    closeSync(descriptor);
  }
}
