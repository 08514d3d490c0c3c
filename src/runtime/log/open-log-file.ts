/** Opens the file of a log, and only a regular file. */

import { closeSync, constants, fchmodSync, fstatSync, openSync } from "node:fs";

import { codedError, codeOf, messageOf, type ThroughlineError } from "../../base/support/index.ts";

/** Changes with every write to the file and whenever another file replaces it. */
export function fileState(file: number): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(file, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/** Distinguishes a file from one that replaced it. The inode is not enough: a system may reuse it at once. */
export function fileIdentity(file: number): string {
  const { dev, ino, birthtimeNs } = fstatSync(file, { bigint: true });
  return [dev, ino, birthtimeNs].join(" ");
}

/**
 * Opens a file, but refuses links, pipes and devices. Returns undefined if there is none. Removes access for other
 * users if the file is ours.
 */
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
