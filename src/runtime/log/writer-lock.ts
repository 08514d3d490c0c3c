/**
 * One writer across processes, by means the kernel frees with its holder: no process id and no age is ever judged. What
 * each system offers a program without native code, and how far it reaches: docs/adr/0015-writer-lock-in-the-folder.md.
 */

import type { Clock } from "../../base/support/index.ts";
import { lockByOpening, openingHolder } from "./exclusive-open-lock.ts";
import { isHeldBySocket, lockBySocket, socketHolder } from "./socket-lock.ts";

export type LockAttempt =
  | { readonly held: true; release(): Promise<void> }
  | { readonly held: false; readonly holder: string };

/** `log` is the path of the log; the lock stands beside it. */
export async function acquireWriterLock(log: string): Promise<LockAttempt> {
  return process.platform === "linux" ? lockBySocket(lockOf(log)) : lockByOpening(lockOf(log));
}

/** How often a waiting writer asks again. */
const ASK_AGAIN_MS = 50;

/** The lock, or after so long who holds it. */
export async function lockWithin(
  waitMs: number,
  clock: Clock,
  attempt: () => Promise<LockAttempt>,
): Promise<LockAttempt> {
  const until = clock.monotonic() + waitMs;
  for (;;) {
    const lock = await attempt();
    const left = until - clock.monotonic();
    if (lock.held || left <= 0) return lock;
    await clock.sleep(Math.min(ASK_AGAIN_MS, left));
  }
}

/** Who holds it, in words; undefined when it is free. */
export async function lockHolder(log: string): Promise<string | undefined> {
  return process.platform === "linux" ? socketHolder(lockOf(log)) : openingHolder(lockOf(log));
}

/** Whether anybody holds it: cheaper than who. */
export async function isLocked(log: string): Promise<boolean> {
  return process.platform === "linux"
    ? isHeldBySocket(lockOf(log))
    : openingHolder(lockOf(log)) !== undefined;
}

function lockOf(log: string): string {
  return log.replace(/\.jsonl$/, ".lock");
}
