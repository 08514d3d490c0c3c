/** Explains in plain words why a server cannot listen on an address. */

import { codeOf, messageOf } from "./errors.ts";

const WORDS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: "this machine does not have this address",
  EAFNOSUPPORT: "this machine does not have this kind of address",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be resolved now",
  EACCES: "permission denied: choose a port above 1023",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};

export function listenProblem(error: unknown): string {
  return WORDS[codeOf(error) ?? ""] ?? messageOf(error);
}
