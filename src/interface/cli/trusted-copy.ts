/**
 * Runs a project's code from a copy of exactly the bytes that were trusted. The files in the project may change between
 * the check and the load, or later when the code imports something lazily: the copy does not. Whatever trust does not
 * name is not in the copy. The copy keeps the files' paths below one private folder, so that imports and packages are
 * found as they are in the project, and it goes when the process ends.
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
import nodeModule from "node:module";
import { hostname } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { codedError, codeOf, messageOf } from "../../base/support/index.ts";
import { dataFolder, type FileSet } from "../config/index.ts";

export interface TrustedCopy {
  /** Holds the copy of `/a/b.mjs` at `a/b.mjs`. */
  readonly folder: string;
  /** The module to import. */
  readonly start: string;
}

const copies = new WeakMap<FileSet, TrustedCopy>();

export function trustedCopy(files: FileSet): TrustedCopy {
  const known = copies.get(files);
  if (known !== undefined) return known;
  try {
    const made = makeCopy(files);
    copies.set(files, made);
    return made;
  } catch (error) {
    throw codedError(
      "trusted_copy_unwritable",
      `the trusted code cannot be copied to ${copiesFolder()}, where it would run: ${messageOf(error)}`,
      error,
    );
  }
}

/**
 * Not the folder for temporary files: Node looks for packages in every folder above a module, and there other users
 * could put some.
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
  // Node asks the folders above for a package.json, too: it stops at this one.
  writeFileSync(join(folder, "package.json"), "{}\n", { mode: 0o600 });
  for (const { path, content } of files) {
    if (content.type === "live") continue;
    const place = placeIn(folder, path);
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    if (content.type === "file") writeFileSync(place, content.bytes, { mode: 0o600, flag: "wx" });
    else symlinkSync(relative(dirname(place), placeIn(folder, content.to)), place, "junction");
  }
  refuseLiveFiles(folder, root);
  return { folder, start: placeIn(folder, starts[0] ?? root) };
}

function placeIn(folder: string, path: string): string {
  return join(folder, path.replace(/^([a-z]):/i, "$1"));
}

/** Copies of processes on this machine that were killed. */
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

interface ResolveHooks {
  readonly resolve: (
    specifier: string,
    context: { readonly parentURL?: string },
    next: (specifier: string, context: object) => { readonly url: string },
  ) => { readonly url: string };
}

/**
 * Code in the copy can compute the path of a file in the project and import that. Node has hooks that can refuse it from
 * 22.15 on; on older versions nothing does (docs/cli.md, Trust).
 */
function refuseLiveFiles(copy: string, root: string): void {
  const { registerHooks } = nodeModule as { readonly registerHooks?: (hooks: ResolveHooks) => unknown };
  const inCopy = pathToFileURL(copy + sep).href;
  registerHooks?.({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const fromCopy = context.parentURL?.startsWith(inCopy) === true && !found.url.startsWith(inCopy);
      if (fromCopy && found.url.startsWith("file:") && isBelow(root, fileURLToPath(found.url)))
        throw codedError("code_untrusted", `${fileURLToPath(found.url)} is not one of the trusted files`);
      return found;
    },
  });
}

function isBelow(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
