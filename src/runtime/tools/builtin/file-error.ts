/**
 * The errors of the built-in tools for a path that cannot be used: coded, and worded for a model that must try
 * something else. Paths appear as the model wrote them or relative to the working directory, never as absolute system
 * paths.
 */

import { codeOf, type ErrorCode, isThroughlineError, ThroughlineError } from "../../../base/support/index.ts";

const PROBLEMS = {
  path_outside:
    "is outside the working directory, or leads out of it through a symbolic link. " +
    "Use a path inside the working directory",
  path_invalid: "is not a usable path. Give a path relative to the working directory",
  not_a_file:
    "is not a regular file. Directories are shown by list_files; devices and pipes are not read or written",
  not_a_directory: "is not a directory. Read a file with read_file",
  path_changed: "was replaced while it was being opened. Try again",
} as const;

export function pathError(code: keyof typeof PROBLEMS, path: string): ThroughlineError {
  return failure(code, path, PROBLEMS[code]);
}

const EXPLANATIONS: Readonly<Record<string, readonly [code: ErrorCode, problem: string]>> = {
  ENOENT: ["path_not_found", "does not exist. See what is there with list_files"],
  ENOTDIR: ["not_a_directory", "goes through something that is not a directory"],
  EISDIR: ["not_a_file", "is a directory, not a file"],
  EACCES: ["path_denied", "may not be accessed: permission denied"],
  EPERM: ["path_denied", "may not be accessed: operation not permitted"],
  EROFS: ["path_denied", "is on a read-only file system"],
  // With O_NOFOLLOW, this is a link that did not exist when the path was resolved.
  ELOOP: ["path_outside", "is, or has become, a symbolic link that is not followed"],
  ENAMETOOLONG: ["path_invalid", "has a name that is too long"],
  ENOSPC: ["disk_full", "could not be written: no space is left on the device"],
  EDQUOT: ["disk_full", "could not be written: the disk quota is used up"],
};

/** Returns our own errors unchanged, and gives system errors a code and a sentence. */
export function fileError(error: unknown, path: string): ThroughlineError {
  if (isThroughlineError(error)) return error;
  const systemCode = codeOf(error) ?? "";
  const known = Object.hasOwn(EXPLANATIONS, systemCode) ? EXPLANATIONS[systemCode] : undefined;
  const [code, problem] = known ?? ["path_failed", `could not be used (${systemCode || "unknown error"})`];
  return failure(code, path, problem, error);
}

function failure(code: ErrorCode, path: string, problem: string, cause?: unknown): ThroughlineError {
  const quoted = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
  return new ThroughlineError({ code, message: `${quoted} ${problem}.`, details: { path }, cause });
}
