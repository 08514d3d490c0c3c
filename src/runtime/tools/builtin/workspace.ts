/**
 * The working directory that confines the built-in file tools, by real path. A path is checked textually before
 * anything is touched, so that nothing can be learned about the outside. It is resolved through every link, checked
 * again, and opened without following a final link. Then the location of the open handle is checked. A directory
 * swapped for a link between two of these steps is noticed. Writes are relative to a verified open directory, never by
 * a path that could have changed meanwhile. This is safe against races on Linux; elsewhere Node has no openat(2), and
 * the last two steps are best effort.
 */

import { constants, existsSync, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

import { codeOf } from "../../../base/support/index.ts";
import { fileError, pathError } from "./file-error.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The directory in which the kernel shows the paths of open handles; containers may lack it. */
const DESCRIPTORS = process.platform === "linux" && existsSync("/proc/self/fd") ? "/proc/self/fd" : undefined;

/** An existing path inside the real working directory, with every link resolved. */
export interface Located {
  readonly root: string;
  readonly real: string;
  /** Relative to the working directory, as shown to the model. */
  readonly shown: string;
}

export interface OpenFile extends Located {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

export interface OpenDirectory {
  readonly handle: FileHandle;
  /** Returns a path to `name` inside this very directory, even if it has been moved. `""` is the directory itself. */
  readonly at: (name: string) => string;
}

export interface WriteTarget extends OpenDirectory {
  readonly name: string;
  readonly shown: string;
  /** The permission bits of the existing file, if any. */
  readonly mode?: number;
}

export async function locate(cwd: string, path: string): Promise<Located> {
  const { root, absolute } = await enter(cwd, path);
  try {
    const real = await realpath(absolute);
    if (!isInside(root, real)) throw pathError("path_outside", path);
    return { root, real, shown: shownPath(root, real) };
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Opens a regular file for reading. Devices and pipes are refused: reading them may block forever. */
export async function openFile(located: Located): Promise<OpenFile> {
  const { root, real, shown } = located;
  // Checked before opening, because opening a device can have an effect of its own.
  if (!(await look(real, shown)).isFile()) throw pathError("not_a_file", shown);
  // O_NONBLOCK: if it has become a pipe meanwhile, opening it does not wait for a writer.
  const handle = await openVerified(root, real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, shown);
  const stats = await handle.stat();
  if (stats.isFile()) return { ...located, handle, stats };
  await handle.close();
  throw pathError("not_a_file", shown);
}

export async function openDirectory(located: Located): Promise<OpenDirectory> {
  const { root, real, shown } = located;
  if (!(await look(real, shown)).isDirectory()) throw pathError("not_a_directory", shown);
  const handle = await openVerified(root, real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, shown);
  return { handle, at: pathsInside(handle, real) };
}

/** Runs `work` on the opened file or directory, and always closes it. */
export async function closing<Opened extends Pick<OpenDirectory, "handle">, Result>(
  opening: Promise<Opened>,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const opened = await opening;
  try {
    return await work(opened);
  } finally {
    await opened.handle.close();
  }
}

/**
 * Opens the parent directory of a file to be written. A link to an existing file inside is written through; missing
 * parents are created one by one. A dangling link is refused, wherever it points: creating its target would write to a
 * location that was never checked.
 */
export async function openWriteTarget(cwd: string, path: string): Promise<WriteTarget> {
  const { root, absolute } = await enter(cwd, path);
  const { existing, missing } = await deepestExisting(absolute, path);
  if (!isInside(root, existing)) throw pathError("path_outside", path);
  const shown = shownPath(root, join(existing, ...missing));
  if (missing.length === 0) {
    const stats = await look(existing, shown);
    if (!stats.isFile()) throw pathError("not_a_file", shown);
    const parent = await openDirectory({ root, real: dirname(existing), shown });
    return { ...parent, name: basename(existing), shown, mode: stats.mode & 0o777 };
  }
  let directory = await openDirectory({ root, real: existing, shown });
  const name = missing.pop() ?? "";
  let real = existing;
  for (const part of missing) {
    real = join(real, part);
    directory = await makeDirectory(directory, part, real, shown);
  }
  return { ...directory, name, shown };
}

/** Returns the real working directory, and the absolute form of a path that is textually inside it. */
async function enter(cwd: string, path: string): Promise<{ root: string; absolute: string }> {
  if (path === "" || path.includes("\0")) throw pathError("path_invalid", path);
  const root = await realpath(cwd).catch((error: unknown) => {
    throw fileError(error, cwd);
  });
  const absolute = resolve(cwd, path);
  // The working directory may itself be given through a link; both spellings count as inside.
  if (!isInside(cwd, absolute) && !isInside(root, absolute)) throw pathError("path_outside", path);
  return { root, absolute };
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function shownPath(root: string, real: string): string {
  return relative(root, real) || ".";
}

async function look(real: string, shown: string): Promise<Stats> {
  return lstat(real).catch((error: unknown) => {
    throw fileError(error, shown);
  });
}

async function openVerified(root: string, real: string, flags: number, shown: string): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(real, flags);
    if (!isInside(root, await pathOfHandle(handle, real))) throw pathError("path_outside", shown);
    return handle;
  } catch (error) {
    await handle?.close();
    throw fileError(error, shown);
  }
}

/**
 * Returns the real path of an open handle. Linux reports it exactly. Elsewhere the path is resolved again and compared,
 * which detects a link that stays but may miss one that is swapped in and out within these few calls.
 */
async function pathOfHandle(handle: FileHandle, real: string): Promise<string> {
  if (DESCRIPTORS !== undefined) return readlink(`${DESCRIPTORS}/${handle.fd}`);
  const again = await realpath(real);
  const [opened, named] = await Promise.all([handle.stat({ bigint: true }), stat(again, { bigint: true })]);
  if (opened.dev !== named.dev || opened.ino !== named.ino) throw pathError("path_changed", real);
  return again;
}

/** On Linux, a path through the handle reaches the verified directory, as openat(2) would. */
function pathsInside(handle: FileHandle, real: string): (name: string) => string {
  const base = DESCRIPTORS === undefined ? real : `${DESCRIPTORS}/${handle.fd}`;
  return (name) => `${base}/${name}`;
}

async function deepestExisting(
  absolute: string,
  path: string,
): Promise<{ existing: string; missing: string[] }> {
  const missing: string[] = [];
  for (let current = absolute; ; current = dirname(current)) {
    try {
      return { existing: await realpath(current), missing };
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw fileError(error, path);
    }
    const isLinkToNothing = await lstat(current).then(
      () => true,
      () => false,
    );
    if (isLinkToNothing) throw pathError("path_outside", path);
    missing.unshift(basename(current));
  }
}

async function makeDirectory(
  parent: OpenDirectory,
  name: string,
  real: string,
  shown: string,
): Promise<OpenDirectory> {
  try {
    await mkdir(parent.at(name)).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error; // another call may have created it just now
    });
    const handle = await open(parent.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return { handle, at: pathsInside(handle, real) };
  } catch (error) {
    throw fileError(error, shown);
  } finally {
    await parent.handle.close();
  }
}
