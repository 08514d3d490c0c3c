/**
 * A command and everything it started, as one: a process group of its own, ended as a whole.
 * First SIGTERM, after a grace SIGKILL, which nothing survives. The kernel reports no event when a group
 * becomes empty, so it is asked at short intervals. Once seen empty a group is never signalled again: its
 * number may by then belong to someone else. The dead that nobody has reaped do not count: in a container
 * whose first process does not reap, they stay for ever and every call would wait for them.
 * A process that made a session of its own (setsid) has left the group and is out of reach.
 */

import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { codeOf } from "../../../base/support/index.ts";

const POLL_MS = 20;
/** After SIGKILL only a process stuck in the kernel remains; a call does not wait for it for ever. */
const MAX_KILL_WAIT_MS = 1000;

const live = new Set<number>();

/** Groups still there when this process exits are killed with it. Returns the function that forgets the group. */
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

/** Resolves when the group is empty, or when everything that can be done has been done. */
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

/** Looks through /proc only after the kernel has said that the group has members, dead or alive. */
async function hasRunningMember(group: number): Promise<boolean> {
  const names = await readdir("/proc").catch(() => undefined);
  if (names === undefined) return true; // no /proc: take the kernel's word
  const members = await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map((name) => isRunningIn(group, name)),
  );
  return members.includes(true);
}

async function isRunningIn(group: number, pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // "pid (name) state parent group …"; the name may contain anything, so it is read from its end.
  const [state, , groupOf] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(groupOf) === group && state !== "Z" && state !== "X";
}

/** `false` when there is no such group. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return codeOf(error) === "EPERM"; // it is there, but has changed its user
  }
}

function killLiveGroups(): void {
  for (const pid of live) signalGroup(pid, "SIGKILL");
}
