/**
 * One writer across processes, by means that the kernel releases when the holder ends: it never judges a process id or
 * an age. For what each system offers without native code, and its limits, see
 * docs/adr/0015-writer-lock-in-the-folder.md.
 */

import type { Clock } from "../../base/support/index.ts";
import { lockByOpening, openingHolder } from "./exclusive-open-lock.ts";
import { isHeldBySocket, lockBySocket, socketHolder } from "./socket-lock.ts";

export type LockAttempt =
  | { readonly held: true; release(): Promise<void> }
  | { readonly held: false; readonly holder: string };

/** `log` is the path of the log; the lock is next to it. */
export async function acquireWriterLock(log: string): Promise<LockAttempt> {
  return acquireLock(lockOf(log));
}

/** `lock` is a path of its own, next to what it guards. */
export async function acquireLock(lock: string): Promise<LockAttempt> {
  return process.platform === "linux" ? lockBySocket(lock) : lockByOpening(lock);
}

/** How often a waiting writer tries again. */
const ASK_AGAIN_MS = 50;

/** Returns the lock, or its holder once the time has passed. */
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

/** Describes the holder. Undefined if the lock is free. */
export async function lockHolder(log: string): Promise<string | undefined> {
  return process.platform === "linux" ? socketHolder(lockOf(log)) : openingHolder(lockOf(log));
}

/** Whether any process holds the lock. Cheaper than finding out which. */
export async function isLocked(log: string): Promise<boolean> {
  return process.platform === "linux"
    ? isHeldBySocket(lockOf(log))
    : openingHolder(lockOf(log)) !== undefined;
}

function lockOf(log: string): string {
  return log.replace(/\.jsonl$/, ".lock");
}
