/**
 * Lists the sessions of a folder. One call reads the names, then a synchronous stat per session avoids a round trip
 * through the thread pool; the order needs all of these. After that it reads one summary per requested session, and a
 * log only if it has no matching summary (bench/list-sessions.mjs).
 */

import { type Dirent, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as yieldToLoop } from "node:timers/promises";

import { codeOf, messageOf } from "../../base/support/index.ts";
import { factsOf, type StoredSummary, summaryOf } from "../facts/index.ts";
import { inListOrder, isFound } from "./list-order.ts";
import type { ListOptions, Log, StoredSession } from "./log.ts";
import { unusable } from "./session-folder.ts";
import { SESSION_ID } from "./stamp.ts";
import { readSummary, stateOfLog, writeSummary } from "./summary-file.ts";
import { type LogState, sameState } from "./summary-line.ts";

export interface ListedFolder {
  readonly root: string;
  readonly now: number;
  /** Opens a session's log to read it. */
  readonly read: (id: string) => Promise<Log>;
}

/** How many to process before yielding to the event loop: a few milliseconds of work. */
const STATS_AT_ONCE = 200;
const SUMMARIES_AT_ONCE = 50;

export async function* listSessions(
  folder: ListedFolder,
  options: ListOptions,
): AsyncGenerator<StoredSession> {
  const { limit = Number.POSITIVE_INFINITY, search } = options;
  const bare = options.summaries === false && search === undefined;
  let [listed, looked] = [0, 0];
  for (const found of inListOrder(await sessionsIn(folder.root), options, folder.now)) {
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

interface Found {
  readonly id: string;
  readonly modifiedAt: number;
  readonly bytes: number;
  /** Undefined if the file could not be examined. */
  readonly state: LogState | undefined;
}

/** A session that was removed meanwhile is omitted. */
async function sessionsIn(root: string): Promise<readonly Found[]> {
  let entries: readonly Dirent[];
  try {
    entries = await readdir(root, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw unusable(root, error);
  }
  const found: Found[] = [];
  let looked = 0;
  for (const entry of entries) {
    const id = entry.name.endsWith(".jsonl") ? entry.name.slice(0, -".jsonl".length) : "";
    if (!SESSION_ID.test(id) || !entry.isFile()) continue;
    const one = examine(id, join(root, entry.name));
    if (one !== undefined) found.push(one);
    looked += 1;
    if (looked % STATS_AT_ONCE === 0) await yieldToLoop();
  }
  return found;
}

/** One file that cannot be examined must not hide the others. It is listed, and opening it reports the problem. */
function examine(id: string, path: string): Found | undefined {
  try {
    const state = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (state === undefined) return undefined;
    return { id, modifiedAt: Number(state.mtimeNs) / 1e6, bytes: Number(state.size), state };
  } catch {
    return { id, modifiedAt: 0, bytes: 0, state: undefined };
  }
}

type Described = { readonly summary: StoredSummary } | Pick<StoredSession, "problem" | "problemCode">;

/** Returns undefined if the session was removed meanwhile. */
async function summarise({ root, read }: ListedFolder, { id, state }: Found): Promise<Described | undefined> {
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
  const summary = summaryOf(factsOf(log.events));
  const after = stateOfLog(path);
  if (before !== undefined && after !== undefined && sameState(before, after))
    writeSummary(path, id, after, summary);
  return summary;
}
