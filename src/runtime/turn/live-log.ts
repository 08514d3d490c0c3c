/**
 * A session's log as long as it is open, with everything that is derived from it as it grows: the fold, the live
 * fan-out to whoever listens, the blobs.
 * One way in (`append`), so that log, fold and viewers never disagree.
 */

import type { EventDraft, LoggedEvent, SessionEvent } from "../../base/events/index.ts";
import { Broadcast, type Clock, onAbort } from "../../base/support/index.ts";
import { SessionFacts } from "../facts/index.ts";
import { activePath, Fold } from "../fold/index.ts";
import { type AppendOptions, BlobCache, type Log, rootOf } from "../log/index.ts";
import { closeTurn, findOpenTurn, type OpenTurn } from "./recover.ts";

const POLL_MS = 200;
const LOOK_MS = 1000;
/** Events of history that a follower is given at a time. */
const PIECE = 256;

export class LiveLog {
  readonly log: Log;
  readonly fold = new Fold();
  readonly blobs: BlobCache;
  readonly #clock: Clock;
  readonly #bus = new Broadcast<readonly SessionEvent[]>({ keepAll: false });
  readonly #listeners = new Set<() => void>();
  #writerLives: boolean;
  /** How many events of the log the fold and the listeners have seen. */
  #taken: number;
  #closed = false;
  readonly #facts = new SessionFacts();
  /** The turn under way hears everything too. */
  listener: ((events: readonly SessionEvent[]) => void) | undefined;
  /** The turn under way is told what the log refused, whoever asked for it. */
  refused: ((reason: unknown) => void) | undefined;
  /** What is open right now, for a viewer who joins late. */
  snapshot: (() => readonly SessionEvent[]) | undefined;

  constructor(log: Log, clock: Clock, writerLives: boolean) {
    this.log = log;
    this.#clock = clock;
    this.#writerLives = writerLives;
    this.blobs = new BlobCache(log);
    onAbort(log.lost, () => this.changed());
    this.fold.add(log.events);
    this.#taken = log.events.length;
  }

  /** Somebody holds the session as its writer: we do, or another process did when it was last looked for. */
  get writerLives(): boolean {
    return this.log.mode === "write" ? !this.#closed && !this.log.lost.aborted : this.#writerLives;
  }

  onChange(listener: () => void): () => void {
    const own = (): void => listener(); // the same function twice is two listeners
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  get path(): readonly LoggedEvent[] {
    return activePath(this.log.events);
  }

  /** The first ancestor of a family of forks. */
  get rootSession(): string {
    return rootOf(this.log);
  }

  /** Taken further when somebody asks: screens do with every event, a turn under way hardly ever. */
  get facts(): SessionFacts {
    this.#facts.add(this.log.events.slice(this.#facts.lastSeq + 1));
    return this.#facts;
  }

  get openTurn(): OpenTurn | undefined {
    return findOpenTurn(this.log.events, this.fold);
  }

  /** The events that close what a crash left open. */
  async closing(): Promise<readonly EventDraft[]> {
    const open = this.openTurn;
    return open === undefined ? [] : closeTurn(open, await this.log.scratch.read());
  }

  async append(drafts: readonly EventDraft[], options: AppendOptions = {}): Promise<void> {
    await this.#asked(this.log.append(drafts, { ...options, durable: false }));
    // The log may add a word of its own (a torn tail that was cut off); whoever comes first after a write takes all that is new.
    const added = this.log.events.slice(this.#taken);
    this.#taken = this.log.events.length;
    this.fold.add(added);
    this.publish(added);
    this.changed();
    // Shown before it is durable: a viewer must not wait for the disk.
    if (options.durable === true) await this.#asked(this.log.append([], { durable: true }));
  }

  /** Before a request is sent and before a tool runs. */
  assertWriter(): Promise<void> {
    return this.#asked(this.log.assertWriter());
  }

  async #asked<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.refused?.(error);
      throw error;
    }
  }

  publish(events: readonly SessionEvent[]): void {
    if (events.length > 0) this.#bus.push([events]);
    this.listener?.(events);
  }

  async *events(after: number, path: "active" | "all"): AsyncGenerator<LoggedEvent> {
    if (path === "active") {
      for (const event of this.path) if (event.seq > after) yield event;
      return;
    }
    // An event's seq is its place: whoever has all but the last is not made to wait for all.
    for (const event of this.log.events.slice(Math.max(0, after + 1))) yield event;
  }

  /** History, then what is open, then live. */
  async *follow(after: number, signal: AbortSignal | undefined): AsyncGenerator<SessionEvent> {
    for await (const batch of this.followBatches(after, signal)) {
      for (const event of batch) {
        yield event;
        if (signal?.aborted === true) return;
      }
    }
  }

  /** The same, as it came: live, every follower is given the very same batches. */
  async *followBatches(
    after: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly SessionEvent[]> {
    // Listening starts before history is read: an event in between is seen once, by its seq.
    const live = this.#bus.fromNow(signal);
    let open = this.snapshot?.() ?? [];
    const { events } = this.log;
    const last = events.length - 1;
    // In pieces: a copy of the whole list would live as long as the follower does.
    for (let at = Math.max(0, after + 1); at <= last; at += PIECE)
      yield events.slice(at, Math.min(at + PIECE, last + 1));
    if (open.length > 0) yield open;
    open = [];
    const seen = Math.max(after, events[last]?.seq ?? -1);
    if (this.log.mode === "read") {
      yield* this.#poll(seen, signal);
      return;
    }
    for await (const batch of live) {
      const isNew = (event: SessionEvent): boolean => !("seq" in event) || event.seq > seen;
      if (batch.every(isNew)) yield batch;
      else yield batch.filter(isNew);
    }
  }

  async refresh(): Promise<void> {
    if (this.log.mode === "write") return;
    await this.#lookForWriter();
    const fresh = await this.log.refresh();
    this.fold.add(fresh);
    if (fresh.length > 0) this.changed();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#bus.end();
    await this.log.close();
    this.changed();
  }

  /** Another process writes: its events are read as they come. Whoever reads first, every follower sees them. */
  async *#poll(after: number, signal: AbortSignal | undefined): AsyncGenerator<readonly LoggedEvent[]> {
    const stopped = (): boolean => this.#closed || signal?.aborted === true;
    let seen = after;
    let looked = this.#clock.monotonic();
    while (!stopped()) {
      if (this.#clock.monotonic() - looked >= LOOK_MS) {
        looked = this.#clock.monotonic();
        await this.#lookForWriter();
      }
      const fresh = await this.log.refresh();
      this.fold.add(fresh);
      if (fresh.length > 0) this.changed();
      const added = this.log.events.slice(seen + 1);
      seen = Math.max(seen, this.log.events.length - 1);
      if (added.length > 0) yield added;
      if (added.length === 0) await this.#clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  }

  /** Before the events are read: whoever learns that the writer is gone has all that it wrote within one more read. */
  async #lookForWriter(): Promise<void> {
    const lives = await this.log.hasWriter();
    if (lives === this.#writerLives) return;
    this.#writerLives = lives;
    this.changed();
  }
}
