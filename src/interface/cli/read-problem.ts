/**
 * Why a file could not be read or written, in words; the system's own name a call and a path nobody asked about.
 */

import { codeOf, messageOf } from "../../base/support/index.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "you have no permission",
  EPERM: "you have no permission",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is a file",
  ELOOP: "its links lead in a circle",
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
