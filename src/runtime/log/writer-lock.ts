/**
 * One writer across processes, by means the kernel frees with its holder: no process id and no age is ever judged. What
 * each system offers a program without native code, and how far it reaches: docs/adr/0015-writer-lock-in-the-folder.md.
 */

import { lockByOpening, openingHolder } from "./exclusive-open-lock.ts";
import { lockBySocket, socketHolder } from "./socket-lock.ts";

export type LockAttempt =
  | { readonly held: true; release(): Promise<void> }
  | { readonly held: false; readonly holder: string };

/** `log` is the path of the log; the lock stands beside it. */
export async function acquireWriterLock(log: string): Promise<LockAttempt> {
  return process.platform === "linux" ? lockBySocket(lockOf(log)) : lockByOpening(lockOf(log));
}

/** Who holds it, in words; undefined when it is free. */
export async function lockHolder(log: string): Promise<string | undefined> {
  return process.platform === "linux" ? socketHolder(lockOf(log)) : openingHolder(lockOf(log));
}

function lockOf(log: string): string {
  return log.replace(/\.jsonl$/, ".lock");
}
