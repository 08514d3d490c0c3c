/**
 * Describes what a crash left in a log, in the same words for every command. Neither case needs a repair: an unfinished
 * write at the end, or an empty log because the process ended before its first event.
 */

import { isAbsolute } from "node:path";

import { type Log, readWholeFile, tailOf, type UnfinishedTail } from "../../runtime/log/index.ts";

/** Returns undefined if there is nothing to report. A log with a running writer may end in the middle of a line. */
export async function crashLeft(log: Log): Promise<string | undefined> {
  if (log.location === "memory" || (await log.hasWriter())) return undefined;
  // A database has no unfinished end: an append is there whole, or not at all.
  if (!isAbsolute(log.location)) return log.events.length === 0 ? emptyText() : undefined;
  const tail = tailOf(readWholeFile(log.location, `session "${log.session}"`));
  if (log.events.length === 0) return emptyText(tail);
  return tail === undefined ? undefined : tailText(tail);
}

export function tailText({ line, byte, bytes }: UnfinishedTail): string {
  return `line ${line}, byte ${byte}: ${bytes} bytes of an unfinished write that was never acknowledged; the next message moves them aside`;
}

export function emptyText(tail?: UnfinishedTail): string {
  const why =
    tail === undefined
      ? "the session has no messages yet"
      : `the process ended before it had written its first event (${tail.bytes} bytes of it are there). Nothing is lost`;
  return `the log is empty: ${why}. Continue the session, or remove it`;
}
