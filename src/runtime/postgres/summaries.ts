/**
 * What lists show of a session, kept in its row. It names the number of events it was taken from; if the log has more by
 * now, the log is read, and the new summary is kept unless a writer holds the session.
 */

import type { StoredSummary } from "../facts/index.ts";
import { parseSummary, summaryLine } from "../log/index.ts";

/** A summary beside a file is checked by the file's state. In a row, the number of events is enough. */
const stateOf = (events: number) => ({ size: BigInt(events), mtimeNs: 0n, ino: 0n });

export function summaryText(session: string, summary: StoredSummary): string {
  return summaryLine(session, stateOf(summary.events), summary).toString("utf8");
}

/** Undefined if it is not the summary of this session with this many events. */
export function readSummaryText(text: unknown, session: string, events: number): StoredSummary | undefined {
  return typeof text === "string"
    ? parseSummary(Buffer.from(text, "utf8"), session, stateOf(events))
    : undefined;
}
