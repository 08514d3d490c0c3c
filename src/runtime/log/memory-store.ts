/**
 * A log in memory: the same contract, gone with the process. Nothing is serialized: events never change, so everyone
 * who opens a session can share them.
 */

import { createHash } from "node:crypto";

import { asRead, type LoggedEvent, toLine } from "../../base/events/index.ts";
import {
  aClock,
  addAll,
  checkOptions,
  type Clock,
  codedError,
  systemClock,
  ThroughlineError,
} from "../../base/support/index.ts";
import { SessionFacts, type StoredSummary, summaryOf } from "../facts/index.ts";
import { changesOf, type NewRows } from "./changes.ts";
import { linesFrom, scanLines } from "./line-framing.ts";
import { inListOrder, isFound } from "./list-order.ts";
import type { Log, Store, Waiting, WaitingTurn } from "./log.ts";
import { assertSessionId, createStamper, nextEpoch } from "./stamp.ts";
import { type LockAttempt, lockWithin } from "./writer-lock.ts";

interface Kept {
  readonly events: LoggedEvent[];
  readonly blobs: Map<string, Uint8Array>;
  readonly waiting: Map<string, WaitingTurn>;
  /** Replaced by a new array when cleared; that is how readers notice. */
  rows: string[];
  held: boolean;
  /** How often `held` has changed. */
  flips: number;
  removed: boolean;
  /** Whether the session exists, even if it is empty. */
  made: boolean;
  modifiedAt: number;
  described?: { readonly facts: SessionFacts; readonly bytes: number; readonly summary: StoredSummary };
  /** Callbacks of readers that wait for something new. */
  readonly rings: Set<() => void>;
}

function newSession(events: LoggedEvent[], blobs: Map<string, Uint8Array>, modifiedAt: number): Kept {
  return {
    events,
    blobs,
    waiting: new Map(),
    rows: [],
    held: false,
    flips: 0,
    made: false,
    removed: false,
    modifiedAt,
    rings: new Set(),
  };
}

function notifyReaders({ rings }: Kept): void {
  for (const ring of rings) ring();
}

/**
 * Returns a store that keeps sessions in memory. They are gone when the process ends.
 *
 * @example
 * ```ts
 * import { createAgent, emulator, memoryStore } from "throughline";
 *
 * const store = memoryStore();
 * const session = await createAgent({ model: emulator() }).open({ store });
 * await session.send("Hello").result();
 * await session.close();
 * for await (const { id, bytes } of store.list()) console.log(id, bytes);
 * ```
 */
export function memoryStore(options: { readonly clock?: Clock | undefined } = {}): Store {
  checkOptions("memoryStore", options, { clock: aClock });
  const clock = options.clock ?? systemClock;
  const kept = new Map<string, Kept>();
  const closing = new AbortController();
  return {
    async open(id, { mode, wait = 0 }) {
      assertSessionId(id);
      if (closing.signal.aborted) throw storeClosed();
      const before = kept.get(id);
      if (before === undefined && mode === "read") throw notFound(id);
      const session = before ?? newSession([], new Map(), clock.now());
      kept.set(id, session);
      if (mode === "write") {
        const lock = await lockWithin(wait, clock, async () => lockInMemory(session));
        if (!lock.held) throw locked(id, lock.holder);
      }
      return openMemoryLog(id, mode, session, clock, closing.signal);
    },
    async create(id, { events, lines, blobs, modifiedAt = clock.now() }) {
      assertSessionId(id);
      const before = kept.get(id);
      // If the session exists, say so, even if it is locked.
      if (before?.made === true) throw sessionExists(id);
      if (before?.held === true) throw locked(id, "this process");
      const own = [...blobs].map(([name, bytes]) => [name, Uint8Array.from(bytes)] as const);
      const stamped =
        lines === undefined
          ? createStamper(clock).stamp(events, 0, 1).map(asRead)
          : [...scanLines(lines, { offset: 0, firstSeq: 0, lowestEpoch: 0, session: id }).events];
      kept.set(id, { ...newSession(stamped, new Map(own), modifiedAt), made: true });
    },
    async exists(id) {
      assertSessionId(id);
      return kept.get(id)?.made === true;
    },
    async *list({ limit = Number.POSITIVE_INFINITY, ...listOptions } = {}) {
      const all = [...kept].flatMap(([id, session]) =>
        session.made ? [{ id, modifiedAt: session.modifiedAt, session }] : [],
      );
      let listed = 0;
      for (const { id, modifiedAt, session } of inListOrder(all, listOptions, clock.now())) {
        if (listed >= limit) return;
        if (kept.get(id) !== session) continue; // removed meanwhile
        const { bytes, summary } = describe(session);
        const stored = { id, modifiedAt, bytes, summary };
        if (!isFound(stored, listOptions.search)) continue;
        listed += 1;
        yield stored;
      }
    },
    async count() {
      return [...kept.values()].filter(({ made }) => made).length;
    },
    async remove(id) {
      assertSessionId(id);
      const session = kept.get(id);
      if (session?.held === true) throw locked(id, "this process");
      if (session?.made !== true) throw notFound(id);
      kept.delete(id);
      session.removed = true;
      notifyReaders(session);
    },
    waiting(id) {
      assertSessionId(id);
      return memoryWaiting(() => kept.get(id)?.waiting ?? new Map());
    },
    async *sessionsWithWaiting() {
      for (const [id, { waiting }] of kept) if (waiting.size > 0) yield id;
    },
    async close() {
      closing.abort();
    },
  };
}

function memoryWaiting(turns: () => Map<string, WaitingTurn>): Waiting {
  return {
    list: async () => [...turns().values()],
    recover: async () => ({ turns: [...turns().values()] }),
    async add(turn, request) {
      turns().set(turn, { turn, request, cancelled: false });
    },
    async cancel(turn) {
      const waiting = turns().get(turn);
      if (waiting !== undefined) turns().set(turn, { ...waiting, cancelled: true });
    },
    async remove(turn) {
      turns().delete(turn);
    },
  };
}

/** Events never change, so only those added since the last list are counted. */
function describe(session: Kept): { readonly bytes: number; readonly summary: StoredSummary } {
  const { events, described } = session;
  if (described?.summary.events === events.length) return described;
  const facts = described?.facts ?? new SessionFacts();
  const added = events.slice(facts.lastSeq + 1);
  facts.add(added);
  const bytes = added.reduce((sum, event) => sum + toLine(event).length + 1, described?.bytes ?? 0);
  session.described = { facts, bytes, summary: summaryOf(facts) };
  return session.described;
}

function lockInMemory(session: Kept): LockAttempt {
  if (session.held) return { held: false, holder: "this process" };
  hold(session, true);
  return { held: true, release: async () => hold(session, false) };
}

function hold(session: Kept, held: boolean): void {
  session.held = held;
  session.flips += 1;
  notifyReaders(session);
}

export function notFound(id: string): ThroughlineError {
  return codedError("session_not_found", `there is no session "${id}"`);
}

export function sessionExists(id: string): ThroughlineError {
  return codedError("session_exists", `session "${id}" already exists. Give the new one another id`);
}

export function locked(id: string, holder: string): ThroughlineError {
  return new ThroughlineError({
    code: "session_locked",
    message: `session "${id}" is being written by ${holder}. Close it there first, or open it to read`,
    details: { holder },
  });
}

export function replaced(id: string): ThroughlineError {
  return codedError(
    "log_replaced",
    `session "${id}" was removed or replaced while it was open. Open it again`,
  );
}

export function readOnly(id: string): ThroughlineError {
  return codedError("log_read_only", `session "${id}" is open for reading only`);
}

function openMemoryLog(
  id: string,
  mode: "write" | "read",
  kept: Kept,
  clock: Clock,
  storeClosing: AbortSignal,
): Log {
  const events = kept.events.slice();
  const epoch = nextEpoch(events);
  const stamper = createStamper(clock);
  const closing = new AbortController();
  const assertWritable = (): void => {
    if (mode === "read") throw readOnly(id);
    if (closing.signal.aborted) throw closed(id);
  };
  const refresh = async (): Promise<readonly LoggedEvent[]> => {
    if (kept.removed) throw replaced(id);
    const added = kept.events.slice(events.length);
    addAll(events, added);
    return added;
  };
  return {
    session: id,
    mode,
    location: "memory",
    events,
    lost: new AbortController().signal, // the memory of a process cannot be lost to another writer
    restored: false,
    async append(drafts, { durable = false } = {}) {
      assertWritable();
      if (drafts.length > 0 || durable) kept.made = true;
      const stamped = stamper.stamp(drafts, events.length, epoch);
      addAll(kept.events, stamped.map(asRead));
      addAll(events, stamped);
      kept.modifiedAt = clock.now();
      notifyReaders(kept);
      return stamped;
    },
    async assertWriter() {
      assertWritable();
    },
    async lines() {
      return linesFrom(events);
    },
    refresh,
    changes: (signal) =>
      changesOf(
        {
          events,
          ends: mode === "write" ? [AbortSignal.abort()] : [signal, closing.signal, storeClosing],
          listen: (ring) => {
            kept.rings.add(ring);
            return () => void kept.rings.delete(ring);
          },
          get writer() {
            return { lives: kept.held, flips: kept.flips };
          },
          rows: newRowsOf(kept),
          refresh,
        },
        events.length,
      ),
    async hasWriter() {
      return kept.held;
    },
    scratch: {
      write: (rows) => {
        addAll(kept.rows, rows);
        notifyReaders(kept);
      },
      rows: async () => kept.rows.slice(),
      clear: () => {
        kept.rows = [];
      },
    },
    async putBlob(bytes) {
      const name = createHash("sha256").update(bytes).digest("hex");
      kept.blobs.set(name, Uint8Array.from(bytes));
      return name;
    },
    async getBlob(name) {
      return kept.blobs.get(name);
    },
    async close() {
      if (!closing.signal.aborted && mode === "write") hold(kept, false);
      closing.abort();
    },
  };
}

function newRowsOf(kept: Kept): () => NewRows {
  let list: readonly string[] = [];
  let at = 0;
  return () => {
    if (list !== kept.rows) at = 0;
    list = kept.rows;
    const rows = list.slice(at);
    at = list.length;
    return { rows, more: false };
  };
}

export function storeClosed(): ThroughlineError {
  return codedError("store_closed", "the store is closed. Create another one to open sessions");
}

export function closed(id: string): ThroughlineError {
  return codedError("log_closed", `session "${id}" is closed`);
}
