/**
 * The log in memory: the same contract, gone with the process. Nothing is written as text: events never change, so that
 * all who open a session may share them.
 */

import { createHash } from "node:crypto";

import { asRead, type LoggedEvent, toLine } from "../../base/events/index.ts";
import { addAll, type Clock, codedError, systemClock, ThroughlineError } from "../../base/support/index.ts";
import { SessionFacts, type StoredSummary, summaryOf } from "../facts/index.ts";
import { linesFrom } from "./line-framing.ts";
import { inListOrder, isFound } from "./list-order.ts";
import type { Log, Store } from "./log.ts";
import { assertSessionId, createStamper, nextEpoch } from "./stamp.ts";
import { type LockAttempt, lockWithin } from "./writer-lock.ts";

interface Kept {
  readonly events: LoggedEvent[];
  readonly blobs: Map<string, Uint8Array>;
  scratch: string;
  held: boolean;
  modifiedAt: number;
  told?: { readonly facts: SessionFacts; readonly bytes: number; readonly summary: StoredSummary };
}

export function memoryStore(options: { readonly clock?: Clock } = {}): Store {
  const clock = options.clock ?? systemClock;
  const kept = new Map<string, Kept>();
  let storeOpen = true;
  return {
    async open(id, { mode, wait = 0 }) {
      assertSessionId(id);
      if (!storeOpen) throw storeClosed();
      const before = kept.get(id);
      if (before === undefined && mode === "read") throw notFound(id);
      const session = before ?? {
        events: [],
        blobs: new Map(),
        scratch: "",
        held: false,
        modifiedAt: clock.now(),
      };
      kept.set(id, session);
      if (mode === "write") {
        const lock = await lockWithin(wait, clock, async () => lockInMemory(session));
        if (!lock.held) throw locked(id, lock.holder);
      }
      return openMemoryLog(id, mode, session, clock);
    },
    async create(id, { events, blobs }) {
      assertSessionId(id);
      const before = kept.get(id);
      // Whoever holds it: that it is there already is what matters.
      if (before !== undefined && before.events.length > 0) throw sessionExists(id);
      if (before?.held === true) throw locked(id, "this process");
      kept.set(id, {
        events: createStamper(clock).stamp(events, 0, 1).map(asRead),
        blobs: new Map([...blobs].map(([name, bytes]) => [name, Uint8Array.from(bytes)])),
        scratch: "",
        held: false,
        modifiedAt: clock.now(),
      });
    },
    async exists(id) {
      assertSessionId(id);
      return (kept.get(id)?.events.length ?? 0) > 0;
    },
    async *list({ limit = Number.POSITIVE_INFINITY, ...listOptions } = {}) {
      const all = [...kept].flatMap(([id, session]) =>
        session.events.length === 0 ? [] : [{ id, modifiedAt: session.modifiedAt, session }],
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
    async remove(id) {
      assertSessionId(id);
      const session = kept.get(id);
      if (session?.held === true) throw locked(id, "this process");
      if (session === undefined || session.events.length === 0) throw notFound(id);
      kept.delete(id);
    },
    async close() {
      storeOpen = false;
    },
  };
}

/** Events never change: only what came since the last list is counted. */
function describe(session: Kept): { readonly bytes: number; readonly summary: StoredSummary } {
  const { events, told } = session;
  if (told?.summary.events === events.length) return told;
  const facts = told?.facts ?? new SessionFacts();
  const added = events.slice(facts.lastSeq + 1);
  facts.add(added);
  const bytes = added.reduce((sum, event) => sum + toLine(event).length + 1, told?.bytes ?? 0);
  session.told = { facts, bytes, summary: summaryOf(facts) };
  return session.told;
}

function lockInMemory(session: Kept): LockAttempt {
  if (session.held) return { held: false, holder: "this process" };
  session.held = true;
  return {
    held: true,
    release: async () => {
      session.held = false;
    },
  };
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

function openMemoryLog(id: string, mode: "write" | "read", kept: Kept, clock: Clock): Log {
  const events = kept.events.slice();
  const epoch = nextEpoch(events);
  const stamper = createStamper(clock);
  let open = true;
  const assertWritable = (): void => {
    if (mode === "read") throw readOnly(id);
    if (!open) throw closed(id);
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
      return stamped;
    },
    async assertWriter() {
      assertWritable();
    },
    async lines() {
      return linesFrom(events);
    },
    async refresh() {
      const added = kept.events.slice(events.length);
      addAll(events, added);
      return added;
    },
    async hasWriter() {
      return kept.held;
    },
    scratch: {
      write: (text) => {
        kept.scratch += text;
      },
      read: async () => kept.scratch,
      clear: () => {
        kept.scratch = "";
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
      if (open && mode === "write") kept.held = false;
      open = false;
    },
  };
}

export function storeClosed(): ThroughlineError {
  return codedError("store_closed", "the store was closed: make another to open sessions");
}

export function closed(id: string): ThroughlineError {
  return codedError("log_closed", `session "${id}" was closed`);
}
