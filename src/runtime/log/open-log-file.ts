/** The file of a log, opened only if it is one. */

import { closeSync, constants, fchmodSync, fstatSync, openSync } from "node:fs";

import { codedError, codeOf, messageOf, type ThroughlineError } from "../../base/support/index.ts";

/** Changes with every write to the file, and with every other file in its place. */
export function fileState(file: number): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(file, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/** Tells a file from another in its place: a system gives an inode again as soon as it is free. */
export function fileIdentity(file: number): string {
  const { dev, ino, birthtimeNs } = fstatSync(file, { bigint: true });
  return [dev, ino, birthtimeNs].join(" ");
}

/** Refuses links, pipes and devices, and files other users could read. Undefined when there is none. */
export function openRegular(path: string, flags: number): number | undefined {
  let file: number;
  try {
    file = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unreadable(path, codeOf(error) === "ELOOP" ? "it is a symbolic link" : messageOf(error), error);
  }
  const stat = fstatSync(file);
  if (!stat.isFile()) {
    closeSync(file);
    throw unreadable(path, "it is not a regular file");
  }
  if ((stat.mode & 0o077) !== 0 && stat.uid === process.getuid?.()) fchmodSync(file, 0o600);
  return file;
}

export function unreadable(path: string, why: string, cause?: unknown): ThroughlineError {
  return codedError("log_unreadable", `cannot open ${path}: ${why}`, cause);
}
