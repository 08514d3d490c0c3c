/**
 * A session's log as long as it is open, with everything that is derived from it as it grows: the fold, the live
 * fan-out to whoever listens, the blobs.
 * One way in, so that log, fold and viewers never disagree: `append` where it is written here; where another writes it,
 * what was read of it, and while somebody follows one pump over the log's changes for all of them.
 */

import type { EventDraft, LoggedEvent, SessionEvent } from "../../base/events/index.ts";
import { Broadcast, onAbort } from "../../base/support/index.ts";
import { SessionFacts } from "../facts/index.ts";
import { activePath, Fold } from "../fold/index.ts";
import { type AppendOptions, BlobCache, type Log, rootOf } from "../log/index.ts";
import { LiveRows } from "./live-rows.ts";
import { closeTurn, findOpenTurn, type OpenTurn } from "./recover.ts";

/** Events of history that a follower is given at a time. */
const PIECE = 256;

type Batch = readonly SessionEvent[];

/** No more of another's changes will come: the log cannot be read, or the store was closed. */
interface Over {
  readonly error: unknown;
}

const RESET: Batch = [{ type: "reset" }];

export class LiveLog {
  readonly log: Log;
  readonly fold = new Fold();
  readonly blobs: BlobCache;
  readonly #bus = new Broadcast<Batch | Over>({ keepAll: false });
  readonly #listeners = new Set<() => void>();
  #writerLives: boolean;
  #followers = 0;
  /** Ends the reading of what another writes. */
  #pump: AbortController | undefined;
  /** How many changes the pumps have told. */
  #heard = 0;
  /** What another has under way, while somebody follows. */
  #rows: LiveRows | undefined;
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

  constructor(log: Log, writerLives: boolean) {
    this.log = log;
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
    return open === undefined ? [] : closeTurn(open, await this.log.scratch.rows());
  }

  async append(drafts: readonly EventDraft[], options: AppendOptions = {}): Promise<void> {
    await this.#asked(this.log.append(drafts, { ...options, durable: false }));
    // The log may add a word of its own (a torn tail that was cut off); whoever comes first after a write takes all that is new.
    this.publish(this.#takeNew());
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

  /** Reads what another process has written since, and whether it still writes. Ours is never behind. */
  async refresh(): Promise<void> {
    if (this.log.mode === "write" || this.#closed) return;
    // Asked before it is read: whoever learns that the writer is gone has all that it wrote.
    const heard = this.#heard;
    const lives = await this.log.hasWriter();
    await this.log.refresh();
    // What the pump has heard meanwhile is newer.
    this.#absorb([], heard === this.#heard ? lives : this.#writerLives);
  }

  publish(events: Batch): void {
    if (events.length > 0) this.#bus.push([events]);
    this.listener?.(events);
  }

  async *events(after: number, path: "active" | "all"): AsyncGenerator<LoggedEvent> {
    await this.#readOn();
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
  async *followBatches(after: number, signal: AbortSignal | undefined): AsyncGenerator<Batch> {
    // Whoever has seen more than is known here may have asked a quicker reader, or another log of that name.
    if (after >= this.#taken) await this.#readOn();
    // Listening starts before history is read: an event in between is seen once, by its seq.
    const live = this.#bus.fromNow(signal);
    const leave = this.#join();
    try {
      const last = this.#taken - 1;
      yield* this.#historyAndOpen(after, last);
      for await (const batch of live) {
        if (!isBatch(batch)) {
          if (batch.error === undefined) return;
          throw batch.error;
        }
        const isNew = (event: SessionEvent): boolean => !("seq" in event) || event.seq > last;
        if (batch.every(isNew)) yield batch;
        else yield batch.filter(isNew);
      }
    } finally {
      leave();
      await live.return?.();
    }
  }

  /** What is open is taken before anything is awaited: it stands behind the last of these events. */
  *#historyAndOpen(after: number, last: number): Generator<Batch> {
    let open = this.snapshot?.() ?? [];
    const { events } = this.log;
    if (after > last) yield RESET;
    const first = after > last ? 0 : after + 1;
    // In pieces: a copy of the whole list would live as long as the follower does.
    for (let at = Math.max(0, first); at <= last; at += PIECE)
      yield events.slice(at, Math.min(at + PIECE, last + 1));
    if (open.length > 0) yield open;
    open = [];
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pump?.abort();
    this.#bus.end();
    await this.log.close();
    this.changed();
  }

  /** The events that nobody was given yet, into the fold. */
  #takeNew(): readonly LoggedEvent[] {
    const added = this.log.events.slice(this.#taken);
    this.#taken += added.length;
    this.fold.add(added);
    return added;
  }

  /** What is in the log is told, whether or not somebody follows; the writer is not asked for. */
  async #readOn(): Promise<void> {
    if (this.log.mode === "write" || this.#closed) return;
    await this.log.refresh();
    this.#absorb([], this.#writerLives);
  }

  /** In one go, and only what is new: the pump and whoever reads on demand never run into each other. */
  #absorb(rows: readonly string[], writerLives: boolean): void {
    const added = this.#takeNew();
    this.publish(this.#rows?.take(added, rows) ?? added);
    const isNew = added.length > 0 || writerLives !== this.#writerLives;
    this.#writerLives = writerLives;
    if (isNew) this.changed();
  }

  /** Another process writes: its changes are read while somebody follows. */
  #join(): () => void {
    this.#followers += 1;
    if (this.log.mode === "read" && !this.#closed && this.#pump === undefined) {
      this.#pump = new AbortController();
      void this.#run(this.#pump.signal);
    }
    return () => {
      this.#followers -= 1;
      if (this.#followers === 0) this.#stopPump();
    };
  }

  #stopPump(): void {
    this.#pump?.abort();
    this.#pump = undefined;
    this.#rows = undefined;
    if (this.log.mode === "read") this.snapshot = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const rows = new LiveRows(this.log.events.slice(0, this.#taken));
    this.#rows = rows;
    this.snapshot = () => rows.snapshot();
    let error: unknown;
    try {
      for await (const change of this.log.changes(signal)) {
        if (signal.aborted) return;
        this.#heard += 1;
        this.#absorb(change.rows, change.hasWriter);
      }
    } catch (thrown) {
      error = thrown;
    }
    if (signal.aborted) return;
    this.#stopPump(); // whoever follows next tries again
    this.#bus.push([{ error }]);
  }
}

function isBatch(batch: Batch | Over): batch is Batch {
  return Array.isArray(batch);
}
