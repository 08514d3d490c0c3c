/**
 * Runs a project's code from a copy of exactly the bytes that were trusted. The project's files may change between the
 * check and the load, or before a lazy import; the copy does not. It contains only trusted files. It keeps their paths
 * below one private folder, so that imports and packages resolve as in the project, and is removed when the process
 * exits.
 */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join, relative, sep } from "node:path";

import { codedError, codeOf, readProblem } from "../../base/support/index.ts";
import { dataFolder, type FileSet } from "../config/index.ts";
import { refuseLiveFiles } from "./refuse-live-files.ts";

export interface TrustedCopy {
  /** Contains the copy of `/a/b.mjs` at `a/b.mjs`. */
  readonly folder: string;
  /** The module to import. */
  readonly start: string;
}

/** Copies by content, because a server loads the same project many times. */
const copies = new Map<string, TrustedCopy>();

export function trustedCopy(set: FileSet): TrustedCopy {
  const content = JSON.stringify([set.root, set.starts, set.files.map(({ path, sha256 }) => [path, sha256])]);
  const known = copies.get(content);
  if (known !== undefined) return known;
  try {
    const made = makeCopy(set);
    copies.set(content, made);
    return made;
  } catch (error) {
    throw codedError(
      "trusted_copy_unwritable",
      `cannot copy the trusted code to ${copiesFolder()} to run it there: ${readProblem(error)}`,
      error,
    );
  }
}

/**
 * Not the folder for temporary files, because Node looks for packages in every folder above a module, and other users
 * could put packages there.
 */
function copiesFolder(): string {
  return join(dataFolder(), "trusted-code");
}

function makeCopy({ root, starts, files }: FileSet): TrustedCopy {
  const owner = `${hostname().replaceAll(/[^\w-]/g, "_")}-`;
  mkdirSync(copiesFolder(), { recursive: true, mode: 0o700 });
  removeAbandoned(owner);
  const folder = realpathSync(mkdtempSync(join(copiesFolder(), `${owner}${process.pid}-`)));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Node searches the parent folders for a package.json; this one ends the search.
  writeFileSync(join(folder, "package.json"), "{}\n", { mode: 0o600 });
  for (const { path, content } of files) {
    if (content.type === "live") continue;
    const place = placeIn(folder, path);
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    if (content.type === "file") writeFileSync(place, content.bytes, { mode: 0o600, flag: "wx" });
    else symlinkSync(relative(dirname(place), placeIn(folder, content.to)), place, "junction");
  }
  refuseLiveFiles(folder + sep, root.endsWith(sep) ? root : root + sep);
  return { folder, start: placeIn(folder, starts[0] ?? root) };
}

function placeIn(folder: string, path: string): string {
  return join(folder, path.replace(/^([a-z]):/i, "$1"));
}

/** Removes copies left by killed processes of this machine. */
function removeAbandoned(owner: string): void {
  for (const name of readdirSync(copiesFolder())) {
    const pid = name.startsWith(owner) ? /^(\d+)-/.exec(name.slice(owner.length))?.[1] : undefined;
    if (pid === undefined || Number(pid) === process.pid || isRunning(Number(pid))) continue;
    rmSync(join(copiesFolder(), name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}
