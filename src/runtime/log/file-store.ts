/**
 * A folder of sessions: `<id>.jsonl`, with `.blobs/`, `.live`, `.summary`, `.waiting`, `.torn-*` and `.lock/` next to
 * it. Folder mode 0700, files 0600.
 */

import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";

import { isThere } from "../../base/files/index.ts";
import {
  aClock,
  aFunction,
  anObject,
  aNumber,
  checkArgument,
  checkOptions,
  type Clock,
  isThroughlineError,
  messageOf,
  type OptionCheck,
  type OptionChecks,
  systemClock,
} from "../../base/support/index.ts";
import { damagedLog, damageOf } from "./damage.ts";
import { type FileIo, systemFileIo } from "./file-io.ts";
import { FileLog, type FileLogOptions } from "./file-log.ts";
import { FolderScan } from "./folder-scan.ts";
import { FolderWatcher, systemWatch, type WatchFolder } from "./folder-watcher.ts";
import { linesFrom } from "./line-framing.ts";
import { listSessions } from "./list-sessions.ts";
import { readWholeFile } from "./log-size.ts";
import type { OpenOptions, Store } from "./log.ts";
import { locked, notFound, storeClosed } from "./memory-store.ts";
import { unreadable } from "./open-log-file.ts";
import { removeSession } from "./remove-session.ts";
import { holdsWholeLine } from "./salvage.ts";
import { makeFolder } from "./session-folder.ts";
import { SharedSync } from "./shared-sync.ts";
import { assertSessionId, createStamper, SESSION_ID } from "./stamp.ts";
import { rememberFolder } from "./store-place.ts";
import { WAITING, WaitingFile } from "./waiting-file.ts";
import { writeSession } from "./write-session.ts";
import { acquireWriterLock, isLocked, lockWithin } from "./writer-lock.ts";

/** Options of `fileStore`. Programs need none of them. */
export interface FileStoreOptions {
  /** For tests. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** For tests: counts system calls and makes them fail. */
  readonly io?: FileIo | undefined;
  /** For tests: supplies file system hints, or none. */
  readonly watch?: WatchFolder | undefined;
  /** For tests: a limit below the real one (log-size.ts). */
  readonly largestLogBytes?: number | undefined;
}

const aFolder: OptionCheck = (value) =>
  typeof value === "string" && value !== ""
    ? undefined
    : 'the path of a folder, such as fileStore("sessions")';

const FILE_STORE_OPTIONS = {
  clock: aClock,
  io: anObject,
  watch: aFunction,
  largestLogBytes: aNumber(1),
} satisfies OptionChecks<FileStoreOptions>;

/**
 * Returns a store that keeps each session in one JSONL file of a folder. The folder is created with the first session.
 *
 * @example
 * ```ts
 * import { createAgent, emulator, fileStore } from "throughline";
 *
 * const store = fileStore("sessions");
 * const session = await createAgent({ model: emulator() }).open({ id: "notes", store });
 * await session.send("Think of a number.").result();
 * await session.close();
 * ```
 */
export function fileStore(folder: string, options: FileStoreOptions = {}): Store {
  checkArgument("fileStore", "folder", folder, aFolder);
  checkOptions("fileStore", options, FILE_STORE_OPTIONS);
  const root = resolve(folder);
  const clock = options.clock ?? systemClock;
  const io = options.io ?? systemFileIo;
  const { largestLogBytes } = options;
  // The log that was read last. A caller that reads a session to choose its model opens it next; this avoids a second
  // read.
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
  const scan = new FolderScan(root);
  const names = new SharedSync(() => io.syncFolder(root));
  const parts = { clock, io, watcher, names, largestLogBytes };
  const store: Store = {
    async open(id, openOptions) {
      if (!storeOpen) throw storeClosed();
      const earlier = last?.session === id ? last : undefined;
      last = undefined; // not kept in memory while another log is read
      const log = await openSession(id, pathOf(id), root, openOptions, { ...parts, earlier });
      if (log.mode === "read") last = log;
      return log;
    },
    async create(id, { events, lines: given, blobs, modifiedAt }) {
      const lines = given ?? linesFrom(createStamper(clock).stamp(events, 0, 1));
      await writeSession(root, { lines, blobs }, { id, modifiedAt });
    },
    async exists(id) {
      return isThere(pathOf(id));
    },
    list(listOptions = {}) {
      const read = (id: string): Promise<FileLog> =>
        openSession(id, pathOf(id), root, { mode: "read" }, parts);
      return listSessions({ root, scan, now: clock.now(), read }, listOptions);
    },
    async count() {
      return (await scan.recent()).length;
    },
    remove: (id) => removeSession(root, id),
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
  return rememberFolder(store, root);
}

async function openSession(
  id: string,
  path: string,
  root: string,
  { mode, wait = 0 }: OpenOptions,
  parts: Pick<FileLogOptions, "clock" | "io" | "watcher" | "names" | "largestLogBytes" | "earlier">,
): Promise<FileLog> {
  if (mode === "read") {
    if (!isThere(path)) throw notFound(id);
    return await openLog({ id, path, mode, ...parts, release: async () => undefined });
  }
  makeFolder(root);
  const lock = await lockWithin(wait, parts.clock, () => acquireWriterLock(path));
  if (!lock.held) throw locked(id, lock.holder);
  try {
    return await openLog({ id, path, mode, ...parts, release: () => lock.release() });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** For a damaged log, reads the rest of the file: the advice depends on whether anything can be saved. */
async function openLog(options: FileLogOptions): Promise<FileLog> {
  try {
    return await FileLog.open(options);
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined)
      throw isThroughlineError(error) ? error : unreadable(options.path, messageOf(error), error);
    const salvageable = holdsWholeLine(readWholeFile(options.path, `session "${options.id}"`));
    throw damagedLog({ ...damage, salvageable }, options.id, error);
  }
}
