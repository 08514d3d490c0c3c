/**
 * Files under predictable names: in a shared folder, another user may have put something there first. A link is not
 * followed, a pipe or device is not waited for, and another user's file is not written to.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

import { codeOf, messageOf } from "../support/index.ts";

/** Throws with the system's `code`: ELOOP for a link, EINVAL for anything that is neither a file nor a folder. */
export function readRegularFile(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    if (found.isDirectory()) throw systemError("EISDIR");
    if (!found.isFile()) throw systemError("EINVAL");
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Opens a file for appending. Refuses one that another user made or that has a second name (EPERM). */
export function openToAppend(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw systemError("EINVAL");
    if ((process.getuid !== undefined && found.uid !== process.getuid()) || found.nlink > 1)
      throw systemError("EPERM");
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

export function systemError(code: string): Error {
  return Object.assign(new Error(WHY[code] ?? code), { code });
}

/** Says what happened and what to do about it. */
export function fileProblem(error: unknown): string {
  const code = codeOf(error) ?? "";
  // A pipe without a reader, a socket and some devices fail to open.
  const known = code === "ENXIO" || code === "ENODEV" ? "EINVAL" : code;
  const why = WHY[known] ?? messageOf(error);
  return `${why}. ${TODO[known] ?? "Check the disk and the permissions of the folder"}`;
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "it belongs to another user, or has a second name",
  EISDIR: "a folder is in its place",
  ENOTDIR: "a file or a link is where its folder should be",
  ELOOP: "a symbolic link is in its place",
  EINVAL: "a pipe or a device is in its place",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EMFILE: "this process has too many open files",
  ENFILE: "the system has too many open files",
  EIO: "the disk failed",
};

const REMOVE = "Move it away and try again";
const PERMIT = "Give this user permission to read and write the folder of sessions";
const ROOM = "Free some space and try again";
const OPEN_FILES = "Close other programs or raise the limit of open files (ulimit -n) and try again";

const TODO: Readonly<Record<string, string>> = {
  EACCES: PERMIT,
  EPERM: PERMIT,
  EROFS: "Choose a writable folder for sessions",
  EISDIR: REMOVE,
  ENOTDIR: REMOVE,
  ELOOP: REMOVE,
  EINVAL: REMOVE,
  ENOSPC: ROOM,
  EDQUOT: ROOM,
  EMFILE: OPEN_FILES,
  ENFILE: OPEN_FILES,
};
