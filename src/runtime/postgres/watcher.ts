/**
 * Looks at all followed sessions in one statement: often while one of them has a turn on another node, rarely otherwise,
 * and at once on a hint. Sessions that this node writes never come here. Also listens for what was asked of the sessions
 * that this node holds.
 */

import { codedError } from "../../base/support/index.ts";
import { type NewRows, replaced, type Writer } from "../log/index.ts";
import type { Connections } from "./connections.ts";
import type { Hints } from "./hints.ts";
import type { Row } from "./lane.ts";
import { flushedHere } from "./live-writer.ts";
import type { Hold } from "./log-parts.ts";
import type { StoreNode } from "./node.ts";
import { storeError } from "./problems.ts";
import type { Statements } from "./statements.ts";

const FAST_MS = 50;
const SLOW_MS = 1000;
/** A session of which a hint came so recently is left to hints: its writer sends one with every flush. */
const HINTED_MS = 75;
/** How often a node asks whether something was admitted to its sessions, with and without hints. */
const ASKED_MS = 1000;
const ASKED_POLLING_MS = 250;
/** As many as the statement returns of a session at once. */
const MOST_ROWS = 200;

export interface FollowedLog {
  readonly tenant: string;
  readonly session: string;
  readonly born: string;
  /** How many events the log has. */
  readonly seq: () => number;
  /** Lines from `seq` on. */
  readonly add: (seq: number, lines: readonly string[]) => void;
}

export interface Followed {
  listen(ring: () => void): () => void;
  /** Looks once. */
  ask(): Promise<void>;
  readonly writer: Writer;
  rows(): NewRows;
  /** Throws why the session can no longer be followed. */
  rethrow(): void;
}

interface Entry {
  readonly log: FollowedLog;
  rings: (() => void)[];
  pending: string[];
  fence: string;
  n: string;
  lives: boolean;
  flips: number;
  /** The fence of the last look: a writer that came and went between two looks has raised it. */
  seen: string | undefined;
  busy: boolean;
  /** When the last hint named it, on the monotonic clock. */
  heardAt: number;
  error: unknown;
  /** The number of the last look whose answer was taken. */
  looked: number;
}

/** A log that this node writes. */
export interface Held {
  readonly session: string;
  readonly hold: Pick<Hold, "fence" | "holder"> | undefined;
  readonly events: readonly unknown[];
  /** How much of the inbox its writer has seen. */
  asked: string;
}

/** In a hint instead of a session's id, which begins with a letter or digit: somebody should go on with a session. */
export const WAKE = "!";

export type AskedListener = (tenant: string, session: string) => void;

export interface WatchCounters {
  looks: number;
  /** How long the last look took, and all of them. */
  lastMs: number;
  ms: number;
}

export class Watcher {
  readonly #connections: Connections;
  readonly #statements: Statements;
  readonly #node: StoreNode;
  readonly #hints: () => Hints;
  readonly #entries = new Set<Entry>();
  readonly #wanted = new Set<Entry>();
  readonly #held = new Map<string, Held>();
  readonly #listeners = new Set<AskedListener>();
  readonly #wakers = new Set<() => void>();
  #looking: Promise<void> | undefined;
  #fast: NodeJS.Timeout | undefined;
  #slow: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  #looks = 0;
  readonly counters: WatchCounters = { looks: 0, lastMs: 0, ms: 0 };

  constructor(connections: Connections, statements: Statements, node: StoreNode, hints: () => Hints) {
    this.#connections = connections;
    this.#statements = statements;
    this.#node = node;
    this.#hints = hints;
  }

  get followers(): number {
    return this.#entries.size;
  }

  follow(log: FollowedLog): Followed {
    const entry: Entry = {
      log,
      rings: [],
      pending: [],
      fence: "0",
      n: "0",
      lives: false,
      flips: 0,
      seen: undefined,
      busy: false,
      heardAt: Number.NEGATIVE_INFINITY,
      error: undefined,
      looked: 0,
    };
    return {
      listen: (ring) => {
        entry.rings.push(ring);
        this.#enter(entry);
        return () => {
          entry.rings = entry.rings.filter((one) => one !== ring);
          if (entry.rings.length === 0) this.#leave(entry);
        };
      },
      ask: async () => {
        await flushedHere();
        await this.#look([entry]);
        if (entry.error !== undefined) throw entry.error;
      },
      get writer() {
        return { lives: entry.lives, flips: entry.flips };
      },
      rows: () => ({ rows: entry.pending.splice(0), more: false }),
      rethrow: () => {
        if (entry.error !== undefined) throw entry.error;
      },
    };
  }

  /** Another node said something about these sessions; undefined: about any. */
  heard(sessions: readonly string[] | undefined): void {
    const named = sessions === undefined ? undefined : new Set(sessions);
    if (named?.has(WAKE) ?? true) for (const listener of this.#wakers) listener();
    const now = performance.now();
    for (const entry of this.#entries) {
      if (named?.has(entry.log.session) === false) continue;
      if (named !== undefined) entry.heardAt = now;
      this.#wanted.add(entry);
    }
    this.#lookSoon();
    if (named === undefined) void this.#ask();
    else for (const [key, held] of this.#held) if (named.has(held.session)) this.#tellAsked(key, held);
  }

  hold(tenant: string, log: Held): void {
    this.#held.set(`${tenant} ${log.session}`, log);
    if (this.#node.pool !== undefined && this.#asking === undefined) this.#askSoon();
  }

  holds(tenant: string, session: string): boolean {
    return this.#held.has(`${tenant} ${session}`);
  }

  held(tenant: string, session: string): Held | undefined {
    return this.#held.get(`${tenant} ${session}`);
  }

  /** Marks the inbox of a session as seen. */
  saw(tenant: string, session: string, asked: string): void {
    const held = this.#held.get(`${tenant} ${session}`);
    if (held !== undefined) held.asked = asked;
  }

  letGo(tenant: string, session: string): void {
    this.#held.delete(`${tenant} ${session}`);
  }

  /** The answer to an append said that something was asked that its writer has not seen. */
  unseen(tenant: string, session: string): void {
    const held = this.#held.get(`${tenant} ${session}`);
    if (held !== undefined) this.#tellAsked(`${tenant} ${session}`, held);
  }

  /** Some session was left with an open turn or an unread request. */
  onWake(listener: () => void): () => void {
    this.#hints().start();
    this.#wakers.add(listener);
    return () => void this.#wakers.delete(listener);
  }

  onAsked(listener: AskedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    for (const timer of [this.#fast, this.#slow, this.#asking]) clearTimeout(timer);
    for (const entry of this.#entries) {
      entry.error = codedError("store_closed", "the store is closed");
      for (const ring of entry.rings) ring();
    }
    this.#entries.clear();
    this.#held.clear();
  }

  #enter(entry: Entry): void {
    this.#entries.add(entry);
    this.#hints().start();
    this.#slow ??= setInterval(() => {
      for (const one of this.#entries) this.#wanted.add(one);
      this.#lookSoon();
    }, SLOW_MS).unref();
  }

  #leave(entry: Entry): void {
    this.#entries.delete(entry);
    if (this.#entries.size > 0) return;
    clearInterval(this.#slow);
    clearTimeout(this.#fast);
    this.#slow = undefined;
    this.#fast = undefined;
  }

  /** One look at a time: what is wanted meanwhile is looked at next. */
  #lookSoon(): void {
    if (this.#looking !== undefined || this.#wanted.size === 0) return;
    const wanted = [...this.#wanted].filter((entry) => this.#entries.has(entry));
    this.#wanted.clear();
    if (wanted.length === 0) return;
    this.#looking = this.#look(wanted)
      .catch(() => undefined) // the database is away; the next look tries again
      .finally(() => {
        this.#looking = undefined;
        this.#lookSoon();
        this.#scheduleFast();
      });
  }

  #scheduleFast(): void {
    if (this.#fast !== undefined) return;
    const busy = [...this.#entries].filter((entry) => entry.busy);
    if (busy.length === 0) return;
    this.#fast = setTimeout(() => {
      this.#fast = undefined;
      const hinted = performance.now() - HINTED_MS;
      for (const entry of this.#entries) if (entry.busy && entry.heardAt < hinted) this.#wanted.add(entry);
      this.#lookSoon();
      this.#scheduleFast();
    }, FAST_MS).unref();
  }

  async #look(entries: readonly Entry[]): Promise<void> {
    this.#looks += 1;
    const look = this.#looks;
    const from = entries.map(({ log }) => log.seq());
    const of = <T>(field: (entry: Entry) => T): T[] => entries.map(field);
    const values = [
      of(({ log }) => log.tenant),
      of(({ log }) => log.session),
      from,
      of(({ fence }) => fence),
      of(({ n }) => n),
    ];
    const started = performance.now();
    const rows = await this.#connections.read(this.#statements.watch, values);
    this.counters.looks += 1;
    this.counters.lastMs = performance.now() - started;
    this.counters.ms += this.counters.lastMs;
    const byEntry = new Map<number, Row[]>();
    for (const row of rows) {
      const index = Number(row["i"]) - 1;
      const known = byEntry.get(index);
      if (known === undefined) byEntry.set(index, [row]);
      else known.push(row);
    }
    for (const [index, entry] of entries.entries())
      this.#absorb(entry, look, from[index] ?? 0, byEntry.get(index) ?? []);
    this.#scheduleFast();
  }

  /** Two looks at once may bring the same, and the answer to the earlier one may come later. */
  #absorb(entry: Entry, look: number, from: number, rows: readonly Row[]): void {
    const head = rows.find(({ kind }) => kind === "h");
    try {
      const isThere = typeof head?.["body"] === "string" && head["body"] === entry.log.born;
      if (head === undefined || !isThere || Number(head["a"]) < from) throw replaced(entry.log.session);
      const events = rows.filter(({ kind }) => kind === "e").toSorted(inOrder);
      entry.log.add(
        from,
        events.map(({ body }) => String(body)),
      );
      const live = rows.filter((row) => row["kind"] === "l" && isBehind(entry, row)).toSorted(inOrder);
      for (const { a, b, body } of live) {
        [entry.n, entry.fence] = [String(a), String(b)];
        for (const row of String(body).split("\n")) entry.pending.push(row);
      }
      const flipped = look > entry.looked && flip(entry, head);
      entry.looked = Math.max(look, entry.looked);
      const isNew = events.length > 0 || live.length > 0 || flipped;
      if (events.length >= MOST_ROWS || live.length >= MOST_ROWS) this.#wanted.add(entry);
      if (isNew) for (const ring of entry.rings) ring();
    } catch (error) {
      entry.error = storeError(error);
      for (const ring of entry.rings) ring();
    }
  }

  #askSoon(): void {
    const ms = this.#hints().state === "listening" ? ASKED_MS : ASKED_POLLING_MS;
    this.#asking = setTimeout(() => {
      void this.#ask().finally(() => {
        if (this.#held.size > 0) this.#askSoon();
        else this.#asking = undefined;
      });
    }, ms).unref();
  }

  async #ask(): Promise<void> {
    const { id } = this.#node;
    if (id === undefined || this.#held.size === 0 || this.#listeners.size === 0) return;
    const rows = await this.#connections.ask(this.#statements.asked, [id]).catch(() => []);
    for (const { tenant, id: session, asked } of rows) {
      const key = `${String(tenant)} ${String(session)}`;
      const held = this.#held.get(key);
      if (held !== undefined && held.asked !== String(asked)) this.#tellAsked(key, held);
    }
  }

  #tellAsked(key: string, held: Held): void {
    const tenant = key.slice(0, key.length - held.session.length - 1);
    for (const listener of this.#listeners) listener(tenant, held.session);
  }
}

/** Takes over whether a writer lives. Returns whether that has changed. */
function flip(entry: Entry, head: Row): boolean {
  const flipped = head["c"] !== entry.lives || (entry.seen !== undefined && entry.seen !== head["b"]);
  if (flipped) entry.flips += 1;
  entry.seen = String(head["b"]);
  entry.lives = head["c"] === true;
  entry.busy = entry.lives && head["d"] === true;
  return flipped;
}

/** Whether a live row comes after those that the entry has. */
function isBehind(entry: Entry, { a, b }: Row): boolean {
  const [fence, last] = [Number(b), Number(entry.fence)];
  return fence > last || (fence === last && Number(a) > Number(entry.n));
}

function inOrder(a: Row, b: Row): number {
  return Number(a["a"]) - Number(b["a"]);
}
