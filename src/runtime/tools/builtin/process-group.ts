/**
 * Runs a command and everything it starts as one process group, and ends it as a whole: first SIGTERM, then, after a
 * grace period, SIGKILL, which nothing survives. The kernel sends no event when a group becomes empty, so it is polled.
 * A group once seen empty is never signalled again, because its number may have been reused. Zombies do not count: in a
 * container whose first process does not reap them they stay forever, and every call would wait for them. A process
 * that started its own session (setsid) has left the group and is out of reach.
 */

import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { codeOf } from "../../../base/support/index.ts";

const POLL_MS = 20;
/** After SIGKILL only a process stuck in the kernel can remain; a call does not wait for it indefinitely. */
const MAX_KILL_WAIT_MS = 1000;

const live = new Set<number>();

/** Kills the group if this process exits first. Returns a function that stops tracking it. */
export function trackGroup(pid: number): () => void {
  if (live.size === 0) process.on("exit", killLiveGroups);
  live.add(pid);
  return () => {
    live.delete(pid);
    if (live.size === 0) process.off("exit", killLiveGroups);
  };
}

export async function isGroupAlive(pid: number): Promise<boolean> {
  return signalGroup(pid, 0) && (process.platform !== "linux" || (await hasRunningMember(pid)));
}

/** Resolves when the group is empty, or when everything possible has been done. */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (!(await isGroupAlive(pid)) || !signalGroup(pid, "SIGTERM")) return;
  if (await isGoneWithin(pid, graceMs)) return;
  if (!signalGroup(pid, "SIGKILL")) return;
  await isGoneWithin(pid, MAX_KILL_WAIT_MS);
}

async function isGoneWithin(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    await delay(POLL_MS);
    if (!(await isGroupAlive(pid))) return true;
  }
  return false;
}

/** Reads /proc only after the kernel has reported that the group has members, dead or alive. */
async function hasRunningMember(group: number): Promise<boolean> {
  const names = await readdir("/proc").catch(() => undefined);
  if (names === undefined) return true; // no /proc: trust the kernel
  const members = await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map((name) => isRunningIn(group, name)),
  );
  return members.includes(true);
}

async function isRunningIn(group: number, pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // "pid (name) state parent group …"; the name may contain anything, so parsing starts after its last parenthesis.
  const [state, , groupOf] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(groupOf) === group && state !== "Z" && state !== "X";
}

/** Returns `false` if there is no such group. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return codeOf(error) === "EPERM"; // it exists, but changed its user
  }
}

function killLiveGroups(): void {
  for (const pid of live) signalGroup(pid, "SIGKILL");
}
