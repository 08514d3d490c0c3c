/**
 * The writer lock on macOS, the BSDs and Windows: the file `<id>.lock`, opened with the flag that locks it in the same
 * call. The kernel releases it when its holder ends. The file is never removed: otherwise two writers could lock two
 * files of the same name.
 */

import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import { codedError, codeOf, messageOf } from "../../base/support/index.ts";
import type { LockAttempt } from "./writer-lock.ts";

/** O_EXLOCK of open(2) on macOS and the BSDs. On Windows, UV_FS_O_EXLOCK of libuv, which opens without sharing. */
const EXCLUSIVE = process.platform === "win32" ? 0x1000_0000 : 0x20;
const LOCKED: ReadonlySet<string | undefined> = new Set(["EAGAIN", "EWOULDBLOCK", "EBUSY", "EPERM"]);
/**
 * A process that only checks whether a session is held takes the lock for that moment, so one failed attempt proves
 * nothing.
 */
const LOOKS = 5;
const LOOK_MS = 10;

export async function lockByOpening(path: string): Promise<LockAttempt> {
  for (let look = 0; look < LOOKS; look += 1) {
    const file = openLocked(path, constants.O_CREAT);
    if (file !== "held") {
      assertExclusive(path, file);
      ftruncateSync(file);
      writeSync(file, String(process.pid));
      return { held: true, release: async () => closeSync(file) };
    }
    await pause(LOOK_MS);
  }
  return { held: false, holder: holderIn(path) };
}

export function openingHolder(path: string): string | undefined {
  try {
    const file = openLocked(path, 0);
    if (file === "held") return holderIn(path);
    closeSync(file);
    return undefined;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** A system that does not know the flag ignores it. There is no lock then, and nothing may be written. */
function assertExclusive(path: string, file: number): void {
  const second = openLocked(path, 0);
  if (second === "held") return;
  closeSync(second);
  closeSync(file);
  throw codedError(
    "lock_unusable",
    `this system or file system cannot lock ${path}. Keep sessions on a local disk (THROUGHLINE_HOME)`,
  );
}

function openLocked(path: string, flags: number): number | "held" {
  try {
    return openSync(
      path,
      constants.O_RDWR | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | EXCLUSIVE | flags,
      0o600,
    );
  } catch (error) {
    if (LOCKED.has(codeOf(error))) return "held";
    if (codeOf(error) === "ENOENT") throw error;
    throw codedError("lock_unusable", `cannot take the writer lock ${path}: ${messageOf(error)}`, error);
  }
}

function holderIn(path: string): string {
  try {
    const pid = /^\d{1,10}$/.exec(readFileSync(path, "latin1"))?.[0];
    if (pid !== undefined) return Number(pid) === process.pid ? "this process" : `process ${pid}`;
  } catch {
    // On Windows a locked file cannot be read.
  }
  return "another process";
}
