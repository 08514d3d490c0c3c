/**
 * An open log and everything derived from it as it grows: the fold, the blobs, and the live fan-out to its followers.
 * There is one way in, so that log, fold and viewers never disagree: `append` if this process writes the log. If
 * another process writes it, events are read on demand and, while there are followers, by one pump over the log's
 * changes.
 */

import { setImmediate } from "node:timers/promises";

import { type EventDraft, headsOf, type LoggedEvent, type SessionEvent } from "../../base/events/index.ts";
import { Broadcast, onAbort } from "../../base/support/index.ts";
import { SessionFacts } from "../facts/index.ts";
import { activePath, Fold } from "../fold/index.ts";
import { type AppendOptions, BlobCache, type Log, rootOf } from "../log/index.ts";
import { LiveRows } from "./live-rows.ts";
import { closeTurn, endsWithItsTurn, findOpenTurn, type OpenTurn } from "./recover.ts";

/** How many past events a follower receives at a time. */
const HISTORY_BATCH = 256;

/** A few milliseconds of work. */
const FOLDED_AT_ONCE = 8 * 1024;

type Batch = readonly SessionEvent[];

/** No more changes of the other writer will follow: the log cannot be read, or the store was closed. */
interface Over {
  readonly error: unknown;
}

const RESET: Batch = [{ type: "reset" }];

export class LiveLog {
  readonly log: Log;
  readonly fold = new Fold();
  readonly blobs: BlobCache;
  readonly #bus = new Broadcast<Batch | Over>();
  readonly #listeners = new Set<() => void>();
  #writerLives: boolean;
  #followers = 0;
  /** Stops the pump that reads what another process writes. */
  #pump: AbortController | undefined;
  /** How many changes the pumps have reported. */
  #heard = 0;
  /** The items another process is generating. Tracked only while this log has followers. */
  #rows: LiveRows | undefined;
  /** How many events of the log the fold and the followers have seen. */
  #taken = 0;
  #closed = false;
  #seal: Error | undefined;
  readonly #facts = new SessionFacts();
  /** Lets the running turn receive every event too. */
  listener: ((events: readonly SessionEvent[]) => void) | undefined;
  /** Notifies the running turn of everything the log refuses, whichever call it was for. */
  refused: ((reason: unknown) => void) | undefined;
  /** The items in progress, for a viewer who joins late. */
  snapshot: (() => readonly SessionEvent[]) | undefined;

  /** Counts and folds what the log holds. The event loop is free between two parts of a long log. */
  static async open(log: Log, writerLives: boolean): Promise<LiveLog> {
    const live = new LiveLog(log, writerLives);
    const heads = headsOf(log.events);
    while (live.#taken < heads.length) {
      if (live.#taken > 0) await setImmediate();
      const to = Math.min(live.#taken + FOLDED_AT_ONCE, heads.length);
      live.#facts.addHeads(heads, live.#taken, to);
      live.fold.addHeads(heads, live.#taken, to, to < heads.length);
      live.#taken = to;
    }
    return live;
  }

  private constructor(log: Log, writerLives: boolean) {
    this.log = log;
    this.#writerLives = writerLives;
    this.blobs = new BlobCache(log);
    onAbort(log.lost, () => this.changed());
  }

  /** Whether a process holds the session as its writer: this one, or another when last checked. */
  get writerLives(): boolean {
    return this.log.mode === "write" ? !this.#closed && !this.log.lost.aborted : this.#writerLives;
  }

  onChange(listener: () => void): () => void {
    const own = (): void => listener(); // so that the same function can be registered twice
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

  /** Brought up to date on access: screens do so with every event, a running turn hardly ever. */
  get facts(): SessionFacts {
    this.#facts.addHeads(headsOf(this.log.events), this.#facts.lastSeq + 1);
    return this.#facts;
  }

  get openTurn(): OpenTurn | undefined {
    return findOpenTurn(this.log.events, this.fold);
  }

  /** The events that close what a crash left open. */
  async closing(): Promise<readonly EventDraft[]> {
    const open = this.openTurn;
    return open === undefined ? [] : closeTurn(open, await this.log.scratch.rows(), this.log.restored);
  }

  /** Whether nothing more is written here: another node goes on from the last event. */
  get sealed(): boolean {
    return this.#seal !== undefined;
  }

  /** Why nothing more can be written here, if so. */
  get lostBy(): unknown {
    return this.#seal ?? (this.log.lost.aborted ? this.log.lost.reason : undefined);
  }

  /** Refuses every append from now on. What is already being written still counts. */
  seal(reason: Error): void {
    this.#seal ??= reason;
  }

  #assertUnsealed(): void {
    if (this.#seal === undefined) return;
    this.refused?.(this.#seal);
    throw this.#seal;
  }

  async append(drafts: readonly EventDraft[], options: AppendOptions = {}): Promise<void> {
    this.#assertUnsealed();
    await this.#asked(this.log.append(drafts, { ...options, durable: false }));
    // The log may add events itself (such as a notice about a torn tail); the first to publish takes all new ones.
    this.publish(this.#takeNew());
    this.changed();
    // Published before it is durable: a viewer must not wait for the disk.
    if (options.durable === true) await this.#asked(this.log.append([], { durable: true }));
  }

  /** Called before a request is sent and before a tool runs. */
  async assertWriter(): Promise<void> {
    this.#assertUnsealed();
    await this.#asked(this.log.assertWriter());
  }

  async #asked<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.refused?.(error);
      throw error;
    }
  }

  /** Reads what another process has written since, and whether it still writes. A no-op for a writer. */
  async refresh(): Promise<void> {
    if (this.log.mode === "write" || this.#closed) return;
    // The writer is checked before reading, so that once it is gone, everything it wrote has been read.
    const heard = this.#heard;
    const lives = await this.log.hasWriter();
    await this.log.refresh();
    // A result the pump received meanwhile is newer.
    this.#absorb([], heard === this.#heard ? lives : this.#writerLives);
  }

  publish(events: Batch): void {
    // A follower joins in the moment it begins to listen, so without one nobody can read this.
    if (events.length > 0 && this.#followers > 0) this.#bus.push([events]);
    this.listener?.(events);
  }

  async *events(after: number, path: "active" | "all"): AsyncGenerator<LoggedEvent> {
    await this.#readOn();
    if (path === "active") {
      for (const event of this.path) if (event.seq > after) yield event;
      return;
    }
    // An event's seq is its index, so a caller that has all but the last events need not wait for all.
    for (const event of this.log.events.slice(Math.max(0, after + 1))) yield event;
  }

  /** Yields history, then items in progress, then live events. */
  async *follow(after: number, signal: AbortSignal | undefined): AsyncGenerator<SessionEvent> {
    for await (const batch of this.followBatches(after, signal)) {
      for (const event of batch) {
        yield event;
        if (signal?.aborted === true) return;
      }
    }
  }

  /** The same in batches. Live batches are the very same arrays for every follower. */
  async *followBatches(after: number, signal: AbortSignal | undefined): AsyncGenerator<Batch> {
    // A follower that has seen more than we have may have used a faster reader, or another log of the same name.
    if (after >= this.#taken) await this.#readOn();
    const left = this.#isLeftOpen ? await this.log.scratch.rows() : [];
    // Listens before reading history; `seq` ensures that an event in between is seen once.
    const live = this.#bus.fromNow(signal);
    const leave = this.#join();
    try {
      const last = this.#taken - 1;
      yield* this.#historyAndOpen(after, last, left);
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

  /** Takes the snapshot of open items before anything is awaited: it belongs after the last of these events. */
  *#historyAndOpen(after: number, last: number, left: readonly string[]): Generator<Batch> {
    const { events } = this.log;
    let open = this.snapshot?.() ?? (left.length === 0 ? [] : openItems(events, left));
    if (after > last) yield RESET;
    const first = after > last ? 0 : after + 1;
    // In chunks: a copy of the whole list would live as long as the follower.
    for (let at = Math.max(0, first); at <= last; at += HISTORY_BATCH)
      yield events.slice(at, Math.min(at + HISTORY_BATCH, last + 1));
    if (open.length > 0) yield open;
    open = [];
  }

  /**
   * Whether a dead writer may have left rows: this one holds the session and has not closed the open turn yet. Readers
   * get the rows with their first change.
   */
  get #isLeftOpen(): boolean {
    return this.log.mode === "write" && this.snapshot === undefined && !endsWithItsTurn(this.log.events);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pump?.abort();
    this.#bus.end();
    await (this.sealed && this.log.handOver !== undefined ? this.log.handOver() : this.log.close());
    this.changed();
  }

  /** Adds the events that were not yet published to the fold, and returns them. */
  #takeNew(): readonly LoggedEvent[] {
    const added = this.log.events.slice(this.#taken);
    this.#taken += added.length;
    this.fold.add(added);
    return added;
  }

  /** Publishes new events of the log, whether or not there are followers. Does not check for a writer. */
  async #readOn(): Promise<void> {
    if (this.log.mode === "write" || this.#closed) return;
    await this.log.refresh();
    this.#absorb([], this.#writerLives);
  }

  /** Synchronous, and takes only new events, so the pump and reads on demand never conflict. */
  #absorb(rows: readonly string[], writerLives: boolean): void {
    const added = this.#takeNew();
    this.publish(this.#rows?.take(added, rows) ?? added);
    const isNew = added.length > 0 || writerLives !== this.#writerLives;
    this.#writerLives = writerLives;
    if (isNew) this.changed();
  }

  /** If another process writes, its changes are read while there are followers. */
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
    const rows = new LiveRows(headsOf(this.log.events).slice(0, this.#taken));
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
    this.#stopPump(); // the next follower tries again
    this.#bus.push([{ error }]);
  }
}

/** What the rows say of items that the log does not have. */
function openItems(events: readonly LoggedEvent[], rows: readonly string[]): readonly SessionEvent[] {
  const open = new LiveRows(headsOf(events));
  open.take([], rows);
  return open.snapshot();
}

function isBatch(batch: Batch | Over): batch is Batch {
  return Array.isArray(batch);
}
