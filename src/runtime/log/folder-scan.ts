/**
 * The sessions in a folder, found by one call for the names and one synchronous stat per session, which avoids a round
 * trip through the thread pool. The next pages of a list, and the number of sessions, use the result of a moment ago if
 * no session came or went since: only a session that was written meanwhile has another place by then.
 */

import { type Dirent, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as yieldToLoop } from "node:timers/promises";

import { codeOf } from "../../base/support/index.ts";
import { unusable } from "./session-folder.ts";
import { SESSION_ID } from "./stamp.ts";
import type { LogState } from "./summary-line.ts";

export interface FoundSession {
  readonly id: string;
  readonly modifiedAt: number;
  readonly bytes: number;
  /** Undefined if the file could not be examined. */
  readonly state: LogState | undefined;
}

/** How many to process before yielding to the event loop: a few milliseconds of work. */
const STATS_AT_ONCE = 200;
const KEPT_MS = 1000;
/** File systems stamp times in ticks, so a folder that has just changed may change again under the same time. */
const TICK_MS = 50;

export class FolderScan {
  readonly #root: string;
  #last: { readonly found: readonly FoundSession[]; readonly mark: string } | undefined;
  #forget: NodeJS.Timeout | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  async now(): Promise<readonly FoundSession[]> {
    const mark = this.#mark(Date.now());
    const found = await sessionsIn(this.#root);
    this.#keep(mark === undefined ? undefined : { found, mark });
    return found;
  }

  async recent(): Promise<readonly FoundSession[]> {
    const last = this.#last;
    return last !== undefined && last.mark === this.#mark(Number.POSITIVE_INFINITY) ? last.found : this.now();
  }

  #keep(last: { readonly found: readonly FoundSession[]; readonly mark: string } | undefined): void {
    clearTimeout(this.#forget);
    this.#last = last;
    this.#forget = setTimeout(() => {
      this.#last = undefined;
    }, KEPT_MS).unref();
  }

  /** Changes when a session comes or goes. Undefined if it cannot be relied on yet. */
  #mark(now: number): string | undefined {
    try {
      const { ino, mtimeNs, mtimeMs } = lstatSync(this.#root, { bigint: true });
      return now - Number(mtimeMs) < TICK_MS ? undefined : `${ino} ${mtimeNs}`;
    } catch {
      return undefined;
    }
  }
}

/** A session that was removed meanwhile is omitted. */
async function sessionsIn(root: string): Promise<readonly FoundSession[]> {
  let entries: readonly Dirent[];
  try {
    entries = await readdir(root, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw unusable(root, error);
  }
  const found: FoundSession[] = [];
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
function examine(id: string, path: string): FoundSession | undefined {
  try {
    const state = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (state === undefined) return undefined;
    return { id, modifiedAt: Number(state.mtimeNs) / 1e6, bytes: Number(state.size), state };
  } catch {
    return { id, modifiedAt: 0, bytes: 0, state: undefined };
  }
}
