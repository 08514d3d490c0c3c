/**
 * A folder of sessions: `<id>.jsonl`, and beside it `.blobs/`, `.live`, `.torn-*` and `.lock/`. Folder 0700, files 0600.
 */

import { type Dirent, statSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setImmediate as breath } from "node:timers/promises";

import { isThere } from "../../base/files/index.ts";
import { type Clock, codeOf, isThroughlineError, messageOf, systemClock } from "../../base/support/index.ts";
import { damagedLog, damageOf } from "./damage.ts";
import { type FileIo, systemFileIo } from "./file-io.ts";
import { FileLog, type FileLogOptions, unreadable } from "./file-log.ts";
import { FolderWatcher, systemWatch, type WatchFolder } from "./folder-watcher.ts";
import { linesFrom } from "./line-framing.ts";
import { readWholeFile } from "./log-size.ts";
import type { OpenOptions, Store, StoredSession } from "./log.ts";
import { locked, notFound, storeClosed } from "./memory-store.ts";
import { holdsWholeLine } from "./salvage.ts";
import { makeFolder, unusable } from "./session-folder.ts";
import { assertSessionId, createStamper, SESSION_ID } from "./stamp.ts";
import { WaitingFile } from "./waiting-file.ts";
import { writeSession } from "./write-session.ts";
import { acquireWriterLock, isLocked, lockWithin } from "./writer-lock.ts";

export interface FileStoreOptions {
  readonly clock?: Clock;
  /** For tests: counts and fails the system calls. */
  readonly io?: FileIo;
  /** For tests: gives the hints of the file system, or none. */
  readonly watch?: WatchFolder;
  /** For tests: a smaller limit than that of the program (log-size.ts). */
  readonly largestLogBytes?: number;
}

export function fileStore(folder: string, options: FileStoreOptions = {}): Store {
  const root = resolve(folder);
  const clock = options.clock ?? systemClock;
  const io = options.io ?? systemFileIo;
  const { largestLogBytes } = options;
  // The log that was read last: whoever looks at a session to choose its model opens it next, and reads it once.
  let last: FileLog | undefined;
  let storeOpen = true;
  const pathOf = (id: string): string => {
    assertSessionId(id);
    return join(root, `${id}.jsonl`);
  };
  const watcher = new FolderWatcher({
    folder: root,
    clock,
    watch: options.watch ?? systemWatch,
    hasWriter: async (id) => isLocked(pathOf(id)),
  });
  return {
    async open(id, openOptions) {
      if (!storeOpen) throw storeClosed();
      const earlier = last?.session === id ? last : undefined;
      last = undefined; // while another log is read, this one may go
      const log = await openSession(id, pathOf(id), root, openOptions, {
        clock,
        io,
        watcher,
        largestLogBytes,
        earlier,
      });
      if (log.mode === "read") last = log;
      return log;
    },
    async create(id, { events, blobs }) {
      const lines = linesFrom(createStamper(clock).stamp(events, 0, 1));
      await writeSession(root, { lines, blobs }, { id });
    },
    async exists(id) {
      return isThere(pathOf(id));
    },
    list: () => listSessions(root),
    async remove(id) {
      const path = pathOf(id);
      if (!isThere(path)) throw notFound(id);
      const lock = await acquireWriterLock(path);
      if (!lock.held) throw locked(id, lock.holder);
      try {
        // The log last: killed in between, the session can still be named, and be removed again. The lock goes by itself.
        const beside = (await readdir(root)).filter((name) => name.startsWith(`${id}.`));
        const first = beside.filter((name) => name !== `${id}.jsonl` && name !== `${id}.lock`);
        for (const name of [...first, `${id}.jsonl`])
          await rm(join(root, name), { recursive: true, force: true });
      } finally {
        await lock.release();
      }
    },
    waiting: (id) => new WaitingFile(pathOf(id).replace(/\.jsonl$/, WAITING)),
    async *sessionsWithWaiting() {
      for (const name of isThere(root) ? await readdir(root) : []) {
        const id = name.endsWith(WAITING) ? name.slice(0, -WAITING.length) : "";
        if (SESSION_ID.test(id)) yield id;
      }
    },
    async close() {
      storeOpen = false;
      last = undefined;
      watcher.close();
    },
  };
}

const WAITING = ".waiting";

async function openSession(
  id: string,
  path: string,
  root: string,
  { mode, wait = 0 }: OpenOptions,
  parts: Pick<FileLogOptions, "clock" | "io" | "watcher" | "largestLogBytes" | "earlier">,
): Promise<FileLog> {
  if (mode === "read") {
    if (!isThere(path)) throw notFound(id);
    return openLog({ id, path, mode, ...parts, release: async () => undefined });
  }
  makeFolder(root);
  const lock = await lockWithin(wait, parts.clock, () => acquireWriterLock(path));
  if (!lock.held) throw locked(id, lock.holder);
  try {
    return openLog({ id, path, mode, ...parts, release: () => lock.release() });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** What can be done about damage depends on the rest of the file. */
function openLog(options: FileLogOptions): FileLog {
  try {
    return new FileLog(options);
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined)
      throw isThroughlineError(error) ? error : unreadable(options.path, messageOf(error), error);
    const salvageable = holdsWholeLine(readWholeFile(options.path, `session "${options.id}"`));
    throw damagedLog({ ...damage, salvageable }, options.id, error);
  }
}

/** Between two breaths for everybody else: some milliseconds of looking. */
const STATS_AT_ONCE = 200;

/**
 * One call for the names, then stat without a round trip through the thread pool for each: 10,000 sessions cost little
 * more than readdir and stat do (bench/list-sessions.mjs). A session that was removed meanwhile is not there.
 */
async function* listSessions(root: string): AsyncGenerator<StoredSession> {
  let entries: readonly Dirent[];
  try {
    entries = await readdir(root, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw unusable(root, error);
  }
  let looked = 0;
  for (const entry of entries) {
    const id = entry.name.endsWith(".jsonl") ? entry.name.slice(0, -".jsonl".length) : "";
    if (!SESSION_ID.test(id) || !entry.isFile()) continue;
    const found = stateOf(join(root, entry.name));
    looked += 1;
    if (looked % STATS_AT_ONCE === 0) await breath();
    if (found !== undefined) yield { id, modifiedAt: found.mtimeMs, bytes: found.size };
  }
}

/** One file that cannot be looked at must not hide the others: it is listed, and opening it says what is wrong. */
function stateOf(path: string): { readonly mtimeMs: number; readonly size: number } | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return { mtimeMs: 0, size: 0 };
  }
}
