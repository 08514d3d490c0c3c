/**
 * What a crash left of a log and nobody has to mend, in the same words wherever a session is looked at: an end that was
 * not finished, or nothing at all because the process ended before its first event was whole.
 */

import { type Log, readWholeFile, tailOf, type UnfinishedTail } from "../../runtime/log/index.ts";

/** Undefined: nothing. A log that somebody writes right now may end in the middle of a line. */
export async function crashLeft(log: Log): Promise<string | undefined> {
  if (log.location === "memory" || (await log.hasWriter())) return undefined;
  const tail = tailOf(readWholeFile(log.location, `session "${log.session}"`));
  if (log.events.length === 0) return emptyText(tail);
  return tail === undefined ? undefined : tailText(tail);
}

export function tailText({ line, byte, bytes }: UnfinishedTail): string {
  return `line ${line}, byte ${byte}: ${bytes} bytes of a write that was not finished and never acknowledged; the next message moves them aside`;
}

export function emptyText(tail?: UnfinishedTail): string {
  const why =
    tail === undefined
      ? "nothing was said in the session yet"
      : `the process ended before its first event was written (${tail.bytes} bytes of it are there). Nothing is lost`;
  return `the log is empty: ${why}. Go on with the session, or remove it`;
}
