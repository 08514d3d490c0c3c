/**
 * The Log contract. One session, one append-only list of events, one writer.
 *
 * - `append` stamps the drafts (`seq` contiguous from 0, `epoch` of this writer) and writes them in order, all or none.
 *   When it has resolved, the events survive the death of the process.
 * - When a durable `append` has resolved, everything appended so far survives the loss of power too.
 * - `events` is everything read or appended so far, in `seq` order. Nothing in it ever changes.
 * - A second writer of the same session is refused (`session_locked`); readers never are.
 * - A writer that was overtaken, whose log was replaced, or whose disk failed, gets an error from every further append and
 *   writes nothing. `lost` is aborted with that error.
 * - A log that would become too large to be opened again refuses the whole append (`log_too_large`). New turns are refused long
 *   before that, what closes a turn last.
 * - `list` tells of sessions by their summaries, without reading their logs where it can; a summary is never the truth.
 * - `scratch` holds what is live and not yet an event. It may be lost; it is never the truth.
 * - `changes` tells a reader what another writer does, without asking again and again. It and `refresh` may be used side by
 *   side: each of them sees every event once.
 *
 * Fit for a database: nothing is synchronous for the caller, and an append is one guarded statement.
 */

import type { EventDraft, LoggedEvent } from "../../base/events/index.ts";
import type { JsonObject, ThroughlineError } from "../../base/support/index.ts";
import type { StoredSummary } from "../facts/index.ts";

/** A draft, or an event copied from another log, which keeps its id and time. */
export type AppendDraft = EventDraft & { readonly id?: string; readonly at?: string };

export interface AppendOptions {
  /**
   * Everything appended so far survives the loss of power when the append has resolved. Without drafts, too: then a
   * session that was not there is there, and empty.
   */
  readonly durable?: boolean;
  /** These events begin or end a turn. A store that lists sessions without reading their logs keeps up with it. */
  readonly turn?: "begin" | "end";
}

/** Rows of what is live: one line of JSON each, without its LF. */
export interface Scratch {
  /** Adds rows; cheap, not durable. */
  write(rows: readonly string[]): void;
  /** All whole rows; one that a crash tore is left out. */
  rows(): Promise<readonly string[]>;
  clear(): void;
}

/** What a reader is told. Rows were read before the events: the response of a row is known, unless it is over. */
export interface LogChange {
  /** New since the change before; in the first, since `changes` was called. They are in `Log.events` too. */
  readonly events: readonly LoggedEvent[];
  /** Rows of the scratch that came since the change before; in the first, all that are there. */
  readonly rows: readonly string[];
  /** Whether a live process held the session as its writer before the rows and the events were read. */
  readonly hasWriter: boolean;
}

export interface Log {
  readonly session: string;
  readonly mode: "write" | "read";
  /** Where a person finds it: a path, or a word for a log that has none. */
  readonly place: string;
  readonly events: readonly LoggedEvent[];
  /** Aborted when this log can never be written again, with the error as its reason. A reader's never is. */
  readonly lost: AbortSignal;
  /**
   * The store was put back to an earlier state since this session was last written: the end of the log may be missing, so
   * every call of an open turn counts as started.
   */
  readonly restored: boolean;
  append(drafts: readonly AppendDraft[], options?: AppendOptions): Promise<readonly LoggedEvent[]>;
  /** Asked before a request is sent and before a tool runs: rejects, and aborts `lost`, if another may write by now. */
  assertWriter(): Promise<void>;
  /** Why no new turn can begin; undefined, or not there, where one can. */
  refusal?(): ThroughlineError | undefined;
  /** The bytes of `events` exactly as the store keeps them (docs/log-format.md). */
  lines(): Promise<Buffer>;
  /** Reads what another writer has added since; resolves to the new events. A writer has nothing to read. */
  refresh(): Promise<readonly LoggedEvent[]>;
  /**
   * The first change comes at once, then one whenever anything in it is new. Ends when the signal aborts, or the log or its
   * store is closed; rejects as `refresh` does. A writer has nothing to hear: its changes end at once.
   */
  changes(signal?: AbortSignal): AsyncIterable<LogChange>;
  /** Whether a live process holds this session as its writer, this very log included. */
  hasWriter(): Promise<boolean>;
  readonly scratch: Scratch;
  /** Stores bytes beside the log and resolves to their name: the SHA-256 in hex. */
  putBlob(bytes: Uint8Array): Promise<string>;
  getBlob(name: string): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

export interface OpenOptions extends Pick<Log, "mode"> {
  /** How many milliseconds to wait for another writer to let go of the session; then `session_locked`. Default 0. */
  readonly wait?: number | undefined;
}

export interface StoredSession {
  readonly id: string;
  readonly modifiedAt: number;
  readonly bytes: number;
  /** What lists show of it. For lists alone: no request is made from it. */
  readonly summary?: StoredSummary | undefined;
  /** Why it cannot be read, if it cannot; then there is no summary. It may name a path: `problemCode` says what it is. */
  readonly problem?: string | undefined;
  readonly problemCode?: string | undefined;
}

export interface ListOptions {
  readonly limit?: number | undefined;
  /** Only what stands behind this session in the list. */
  readonly behind?: Pick<StoredSession, "id" | "modifiedAt"> | undefined;
  /** In title, id or folder, in any case. */
  readonly search?: string | undefined;
  /** False: id, time and size are enough, for whoever wants names only or reads the logs anyway. A search needs them. */
  readonly summaries?: boolean | undefined;
}

export interface WholeSession {
  readonly events: readonly AppendDraft[];
  /** By their names: what the events name must be in it. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** A turn that was promised and has not begun: the log does not have it yet. */
export interface WaitingTurn {
  readonly turn: string;
  /** All that is needed to begin it in another process. */
  readonly request: JsonObject;
  /** It is not to begin: all that is owed is its end. */
  readonly cancelled: boolean;
}

/**
 * The turns that wait, in the order in which they were promised. Only the writer of the session changes the list; a turn
 * leaves it when the log has it. So the log stays the truth of what was done: whoever finds a turn in both drops it here.
 */
export interface Waiting {
  /** Anybody may look. What cannot be read is passed over. */
  list(): Promise<readonly WaitingTurn[]>;
  /** For the writer, before anything else: what a crash tore is cut off, what is damaged is put aside and told in words. */
  recover(): Promise<{ readonly turns: readonly WaitingTurn[]; readonly problem?: string }>;
  /** Durable when it has resolved, like `cancel`. */
  add(turn: string, request: JsonObject): Promise<void>;
  cancel(turn: string): Promise<void>;
  remove(turn: string): Promise<void>;
}

export interface Store {
  /** A session that does not exist is made by its first append, even a durable one without drafts; opening it to read is `session_not_found`. */
  open(id: string, options: OpenOptions): Promise<Log>;
  /** A session with all that is to be in it: complete or not there. One of that name is `session_exists`. */
  create(id: string, whole: WholeSession): Promise<void>;
  exists(id: string): Promise<boolean>;
  /**
   * Newest first, by id where the time is the same; sessions of the future behind those of the present. One by one: who
   * stops has read no more than was asked for. A session that cannot be read is listed with its problem.
   */
  list(options?: ListOptions): AsyncIterable<StoredSession>;
  /** Removes the session and everything beside it. */
  remove(id: string): Promise<void>;
  waiting(id: string): Waiting;
  /** The sessions in which turns wait. */
  sessionsWithWaiting(): AsyncIterable<string>;
  /**
   * Lets go of what the store itself holds, and ends the changes of its logs. Logs that are open stay open; opening
   * another is `store_closed`.
   */
  close(): Promise<void>;
}

/** The first ancestor of a family of forks: they share a prompt cache. */
export function rootOf(log: { readonly session: string; readonly events: readonly LoggedEvent[] }): string {
  const [first] = log.events;
  return first?.type === "session_start" ? first.root : log.session;
}
