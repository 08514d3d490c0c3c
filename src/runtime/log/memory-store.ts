/**
 * The log in memory: the same contract, gone with the process. Nothing is written as text: events never change, so that
 * all who open a session may share them.
 */

import { createHash } from "node:crypto";

import { asRead, type LoggedEvent, toLine } from "../../base/events/index.ts";
import { addAll, type Clock, codedError, systemClock, ThroughlineError } from "../../base/support/index.ts";
import { changesOf, type NewRows } from "./changes.ts";
import { linesFrom } from "./line-framing.ts";
import type { Log, Store } from "./log.ts";
import { assertSessionId, createStamper, nextEpoch } from "./stamp.ts";
import { type LockAttempt, lockWithin } from "./writer-lock.ts";

interface Kept {
  readonly events: LoggedEvent[];
  readonly blobs: Map<string, Uint8Array>;
  /** Another list once it was cleared: whoever reads it on tells by that. */
  rows: string[];
  held: boolean;
  /** How often `held` has changed. */
  flips: number;
  modifiedAt: number;
  /** Readers that wait for something new. */
  readonly rings: Set<() => void>;
}

function keep(events: LoggedEvent[], blobs: Map<string, Uint8Array>, modifiedAt: number): Kept {
  return { events, blobs, rows: [], held: false, flips: 0, modifiedAt, rings: new Set() };
}

function changed({ rings }: Kept): void {
  for (const ring of rings) ring();
}

export function memoryStore(options: { readonly clock?: Clock } = {}): Store {
  const clock = options.clock ?? systemClock;
  const kept = new Map<string, Kept>();
  const closing = new AbortController();
  return {
    async open(id, { mode, wait = 0 }) {
      assertSessionId(id);
      if (closing.signal.aborted) throw storeClosed();
      const before = kept.get(id);
      if (before === undefined && mode === "read") throw notFound(id);
      const session = before ?? keep([], new Map(), clock.now());
      kept.set(id, session);
      if (mode === "write") {
        const lock = await lockWithin(wait, clock, async () => lockInMemory(session));
        if (!lock.held) throw locked(id, lock.holder);
      }
      return openMemoryLog(id, mode, session, clock, closing.signal);
    },
    async create(id, { events, blobs }) {
      assertSessionId(id);
      const before = kept.get(id);
      // Whoever holds it: that it is there already is what matters.
      if (before !== undefined && before.events.length > 0) throw sessionExists(id);
      if (before?.held === true) throw locked(id, "this process");
      const own = [...blobs].map(([name, bytes]) => [name, Uint8Array.from(bytes)] as const);
      kept.set(id, keep(createStamper(clock).stamp(events, 0, 1).map(asRead), new Map(own), clock.now()));
    },
    async exists(id) {
      assertSessionId(id);
      return (kept.get(id)?.events.length ?? 0) > 0;
    },
    async *list() {
      for (const [id, { events, modifiedAt }] of kept) {
        if (events.length === 0) continue;
        yield { id, modifiedAt, bytes: events.reduce((sum, event) => sum + toLine(event).length + 1, 0) };
      }
    },
    async remove(id) {
      assertSessionId(id);
      const session = kept.get(id);
      if (session?.held === true) throw locked(id, "this process");
      if (session === undefined || session.events.length === 0) throw notFound(id);
      kept.delete(id);
    },
    async close() {
      closing.abort();
    },
  };
}

function lockInMemory(session: Kept): LockAttempt {
  if (session.held) return { held: false, holder: "this process" };
  hold(session, true);
  return { held: true, release: async () => hold(session, false) };
}

function hold(session: Kept, held: boolean): void {
  session.held = held;
  session.flips += 1;
  changed(session);
}

export function notFound(id: string): ThroughlineError {
  return codedError("session_not_found", `there is no session "${id}"`);
}

export function sessionExists(id: string): ThroughlineError {
  return codedError("session_exists", `there is a session "${id}" already: give the new one another id`);
}

export function locked(id: string, holder: string): ThroughlineError {
  return new ThroughlineError({
    code: "session_locked",
    message: `session "${id}" is being written by ${holder}: close it there first, or open it to read`,
    details: { holder },
  });
}

export function readOnly(id: string): ThroughlineError {
  return codedError("log_read_only", `session "${id}" was opened to read`);
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
    const added = kept.events.slice(events.length);
    addAll(events, added);
    return added;
  };
  return {
    session: id,
    mode,
    place: "memory",
    events,
    lost: new AbortController().signal, // nobody can take the memory of a process away
    restored: false,
    async append(drafts) {
      assertWritable();
      const stamped = stamper.stamp(drafts, events.length, epoch);
      addAll(kept.events, stamped.map(asRead));
      addAll(events, stamped);
      kept.modifiedAt = clock.now();
      changed(kept);
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
        changed(kept);
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
  return codedError("store_closed", "the store was closed: make another to open sessions");
}

export function closed(id: string): ThroughlineError {
  return codedError("log_closed", `session "${id}" was closed`);
}
