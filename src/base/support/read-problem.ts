/** Explains file errors in plain words. The system's messages name a system call and a path the user does not know. */

import { codeOf, messageOf } from "./errors.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is a file",
  ELOOP: "its links form a loop",
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EIO: "the disk reported an error",
  ESTALE: "the network disk no longer knows the file",
  EDQUOT: "your quota on this disk is used up",
  EUCLEAN: "the file system is damaged",
};

export function readProblem(error: unknown): string {
  return WORDS[codeOf(error) ?? ""] ?? messageOf(error).replace(/, [a-z]+ '.*$/s, "");
}
