/**
 * Notifies the readers of one folder of sessions when something may be new. They share one watcher and one timer,
 * created with the first reader and stopped with the last.
 *
 * The file system's hints make it fast; the timer makes it reliable, since a system may lack hints or lose some. Each
 * tick checks some of the sessions in turn and asks the locks of a few, so its cost is bounded however many are
 * followed (docs/adr/0016-change-hints.md).
 */

import { lstatSync, watch } from "node:fs";
import { join } from "node:path";

import type { Clock } from "../../base/support/index.ts";
import type { Writer } from "./changes.ts";

export interface FolderWatch {
  close(): void;
}

/** Calls back with the name of the file that changed in the folder. Throws if the system cannot watch it. */
export type WatchFolder = (
  folder: string,
  changed: (name: string) => void,
  failed: () => void,
) => FolderWatch;

export const systemWatch: WatchFolder = (folder, changed, failed) => {
  const watcher = watch(folder, (_event, name) => {
    if (name !== null) changed(name);
  });
  watcher.on("error", failed);
  return watcher;
};

export interface FolderWatcherOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly watch: WatchFolder;
  /** Whether a live process holds that session as its writer. */
  readonly hasWriter: (id: string) => Promise<boolean>;
}

const TICK_MS = 200;
/** Sessions checked per tick, with three stat calls each. With hints, it only has to find what they missed. */
const LOOKS = 64;
const LOOKS_WITH_HINTS = 16;
/** Locks asked per tick. Each is a connection to its holder. */
const ASKS = 4;
const ASK_AGAIN_MS = 1000;
/** Sessions a tick may skip to find those locks: an idle session has none. */
const PASSED = 128;
/** A burst of writes leads to one check. */
const HINTS_MS = 15;

export interface Followed {
  readonly writer: Writer;
  /** Resolves to the current answer and notifies the session's followers if it is new. */
  ask(): Promise<boolean>;
  leave(): void;
}

export class FolderWatcher {
  readonly #options: FolderWatcherOptions;
  readonly #sessions = new Map<string, FollowedSession>();
  readonly #closed = new AbortController();
  /** Stops the timer and the watcher. */
  #stop: AbortController | undefined;
  #hasHints = false;
  #hinted = new Map<FollowedSession, Hint>();
  #lastFlush = Number.NEGATIVE_INFINITY;
  /** Iterators that visit every session in turn. */
  #looks: Iterator<FollowedSession> | undefined;
  #asks: Iterator<FollowedSession> | undefined;

  constructor(options: FolderWatcherOptions) {
    this.#options = options;
  }

  /** Aborted when no further notifications will follow. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  follow(id: string, ring: () => void): Followed {
    const session = this.#sessions.get(id) ?? new FollowedSession(id, this.#options);
    this.#sessions.set(id, session);
    session.listeners.add(ring);
    if (!this.closed.aborted) this.#start();
    return {
      get writer() {
        return session.writer;
      },
      ask: () => session.ask(),
      leave: () => {
        session.listeners.delete(ring);
        if (session.listeners.size > 0) return;
        if (this.#sessions.get(id) === session) this.#sessions.delete(id);
        this.#hinted.delete(session);
        if (this.#sessions.size === 0) this.#end();
      },
    };
  }

  /** If the session is followed, its followers learn the answer too. */
  hasWriter(id: string): Promise<boolean> {
    return this.#sessions.get(id)?.ask() ?? this.#options.hasWriter(id);
  }

  close(): void {
    this.#closed.abort();
    this.#end();
  }

  #start(): void {
    if (this.#stop !== undefined) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#watch(stop.signal);
    void this.#tick(stop.signal);
  }

  #end(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#looks = undefined;
    this.#asks = undefined;
    this.#hinted.clear();
  }

  /** Without hints, the timer works alone. */
  #watch(stop: AbortSignal): void {
    let watching: FolderWatch | undefined;
    const end = (): void => {
      if (watching !== undefined) this.#hasHints = false;
      watching?.close();
      watching = undefined;
    };
    try {
      watching = this.#options.watch(this.#options.folder, (name) => this.#hint(name), end);
      this.#hasHints = true;
      stop.addEventListener("abort", end, { once: true });
    } catch {
      // ENOSPC, EMFILE, a file system without hints, or a missing folder.
    }
  }

  #hint(name: string): void {
    const dot = name.lastIndexOf(".");
    const hint = HINTS[name.slice(dot)];
    const session = hint && this.#sessions.get(name.slice(0, dot));
    if (hint === undefined || session === undefined) return;
    const isFirst = this.#hinted.size === 0;
    this.#hinted.set(session, this.#hinted.get(session) === "lock" ? "lock" : hint);
    if (isFirst) void this.#flush();
  }

  async #flush(): Promise<void> {
    const { clock } = this.#options;
    const wait = Math.max(0, this.#lastFlush + HINTS_MS - clock.monotonic());
    await clock.sleep(wait, this.#stop?.signal).catch(() => undefined);
    this.#lastFlush = clock.monotonic();
    const hinted = this.#hinted;
    this.#hinted = new Map();
    for (const [session, hint] of hinted) session.look(hint);
  }

  async #tick(stop: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(TICK_MS, stop).catch(() => undefined);
      if (stop.aborted) return;
      const looks = Math.min(this.#hasHints ? LOOKS_WITH_HINTS : LOOKS, this.#sessions.size);
      for (let looked = 0; looked < looks; looked += 1) this.#nextToLook()?.look();
      this.#askSome();
    }
  }

  #nextToLook(): FollowedSession | undefined {
    let next = this.#looks?.next();
    if (next === undefined || next.done === true) {
      this.#looks = this.#sessions.values();
      next = this.#looks.next();
    }
    return next.done === true ? undefined : next.value;
  }

  /** Only the lock reveals that a holder was killed; the files do not. */
  #askSome(): void {
    const now = this.#options.clock.monotonic();
    let asked = 0;
    const most = Math.min(this.#sessions.size, PASSED);
    for (let passed = 0; passed < most && asked < ASKS; passed += 1) {
      let next = this.#asks?.next();
      if (next === undefined || next.done === true) {
        this.#asks = this.#sessions.values();
        next = this.#asks.next();
      }
      if (next.done === true || !next.value.mayHaveWriter || now - next.value.askedAt < ASK_AGAIN_MS)
        continue;
      asked += 1;
      void next.value.ask();
    }
  }
}

type Hint = "files" | "lock";

const HINTS: Readonly<Record<string, Hint>> = { ".jsonl": "files", ".live": "files", ".lock": "lock" };

/** One session, shared by all followed logs of it. */
class FollowedSession {
  readonly listeners = new Set<() => void>();
  readonly #id: string;
  readonly #options: FolderWatcherOptions;
  readonly #log: string;
  readonly #scratch: string;
  readonly #lock: string;
  #seenFiles: string;
  #seenLock: string;
  #asking: Promise<boolean> | undefined;
  #askedNext: Promise<boolean> | undefined;
  writer: Writer = { lives: false, flips: 0 };
  askedAt = Number.NEGATIVE_INFINITY;

  constructor(id: string, options: FolderWatcherOptions) {
    const { folder } = options;
    this.#id = id;
    this.#options = options;
    this.#log = join(folder, `${id}.jsonl`);
    this.#scratch = join(folder, `${id}.live`);
    this.#lock = join(folder, `${id}.lock`);
    this.#seenFiles = this.#files();
    this.#seenLock = stateOf(this.#lock);
  }

  get mayHaveWriter(): boolean {
    return this.writer.lives || this.#seenLock !== "";
  }

  /**
   * A hint counts even if the state looks the same: a file recreated within one tick of the system's clock looks
   * unchanged.
   */
  look(hint?: Hint): void {
    const [files, lock] = [this.#files(), stateOf(this.#lock)];
    const isLockNew = lock !== this.#seenLock || hint === "lock";
    const isNew = files !== this.#seenFiles || hint === "files";
    this.#seenFiles = files;
    this.#seenLock = lock;
    if (isLockNew) void this.ask().then(() => this.#askSoon());
    if (isNew) this.#ring();
  }

  /** A call during a running check gets the result of the next one, because the holder may have changed meanwhile. */
  ask(): Promise<boolean> {
    if (this.#asking === undefined) {
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined;
      });
      return this.#asking;
    }
    this.#askedNext ??= this.#asking.then(() => {
      this.#askedNext = undefined;
      return this.ask();
    });
    return this.#askedNext;
  }

  /** A lock that is being taken has no holder yet, so the next tick asks again. */
  #askSoon(): void {
    this.askedAt = Number.NEGATIVE_INFINITY;
  }

  async #ask(): Promise<boolean> {
    this.askedAt = this.#options.clock.monotonic();
    // If the lock cannot be asked, the last answer stays valid.
    const lives = await this.#options.hasWriter(this.#id).catch(() => this.writer.lives);
    if (lives !== this.writer.lives) {
      this.writer = { lives, flips: this.writer.flips + 1 };
      this.#ring();
    }
    return lives;
  }

  #ring(): void {
    for (const ring of this.listeners) ring();
  }

  #files(): string {
    return `${stateOf(this.#log)} ${stateOf(this.#scratch)}`;
  }
}

/** Empty if there is no file. Avoids bigint times: nanoseconds as bigint cost as much as the call. */
function stateOf(path: string): string {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
  } catch {
    return ""; // the reader reports the problem
  }
}
