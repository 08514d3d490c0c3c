/**
 * Lists the sessions of a folder. The order needs a look at all of them (folder-scan.ts). After that it reads one summary
 * per requested session, and a log only if it has no matching summary (bench/list-sessions.mjs).
 */

import { join } from "node:path";
import { setImmediate as yieldToLoop } from "node:timers/promises";

import type { LoggedEvent } from "../../base/events/index.ts";
import { codeOf, messageOf } from "../../base/support/index.ts";
import { SessionFacts, type StoredSummary, summaryOf } from "../facts/index.ts";
import type { FolderScan, FoundSession } from "./folder-scan.ts";
import { inListOrder, isFound } from "./list-order.ts";
import type { ListOptions, Log, StoredSession } from "./log.ts";
import { readSummary, stateOfLog, writeSummary } from "./summary-file.ts";
import { type LogState, sameState } from "./summary-line.ts";

export interface ListedFolder {
  readonly root: string;
  readonly scan: FolderScan;
  readonly now: number;
  /** Opens a session's log to read it. */
  readonly read: (id: string) => Promise<Log>;
}

/** How many to process before yielding to the event loop: a few milliseconds of work. */
const SUMMARIES_AT_ONCE = 50;
const EVENTS_AT_ONCE = 2000;

export async function* listSessions(
  folder: ListedFolder,
  options: ListOptions,
): AsyncGenerator<StoredSession> {
  const { limit = Number.POSITIVE_INFINITY, search } = options;
  const bare = options.summaries === false && search === undefined;
  let [listed, looked] = [0, 0];
  const all = await (options.behind === undefined ? folder.scan.now() : folder.scan.recent());
  for (const found of inListOrder(all, options, folder.now)) {
    if (listed >= limit) return;
    looked += 1;
    if (!bare && looked % SUMMARIES_AT_ONCE === 0) await yieldToLoop();
    const { id, modifiedAt, bytes } = found;
    const described = bare ? {} : await summarise(folder, found);
    if (described === undefined) continue;
    const stored = { id, modifiedAt, bytes, ...described };
    if (!isFound(stored, search)) continue;
    listed += 1;
    yield stored;
  }
}

type Described = { readonly summary: StoredSummary } | Pick<StoredSession, "problem" | "problemCode">;

/** Returns undefined if the session was removed meanwhile. */
async function summarise(
  { root, read }: ListedFolder,
  { id, state }: FoundSession,
): Promise<Described | undefined> {
  const path = join(root, `${id}.jsonl`);
  const kept = state === undefined ? undefined : readSummary(path, id, state);
  if (kept !== undefined) return { summary: kept };
  try {
    return { summary: await rebuildSummary(path, id, read, state) };
  } catch (error) {
    return codeOf(error) === "session_not_found"
      ? undefined
      : { problem: messageOf(error), problemCode: codeOf(error) };
  } finally {
    await yieldToLoop(); // a log may be large
  }
}

async function rebuildSummary(
  path: string,
  id: string,
  read: ListedFolder["read"],
  seen: LogState | undefined,
): Promise<StoredSummary> {
  const before = stateOfLog(path);
  // The writer may have continued since the folder was read and left a newer summary.
  const newer =
    before === undefined || seen === undefined || sameState(before, seen)
      ? undefined
      : readSummary(path, id, before);
  if (newer !== undefined) return newer;
  const log = await read(id);
  await log.close();
  const summary = await summarised(log.events);
  const after = stateOfLog(path);
  if (before !== undefined && after !== undefined && sameState(before, after))
    writeSummary(path, id, after, summary);
  return summary;
}

/** A server lists too, and a log may have a million events. */
async function summarised(events: readonly LoggedEvent[]): Promise<StoredSummary> {
  const facts = new SessionFacts();
  for (let at = 0; at < events.length; at += EVENTS_AT_ONCE) {
    if (at > 0) await yieldToLoop();
    facts.add(events.slice(at, at + EVENTS_AT_ONCE));
  }
  return summaryOf(facts);
}
