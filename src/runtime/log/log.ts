/**
 * The Log contract. One session, one append-only list of events, one writer.
 *
 * - `append` stamps the drafts (`seq` contiguous from 0, `epoch` of this writer) and writes them in order, all or none.
 *   Once it resolves, the events survive the death of the process.
 * - Once a durable `append` resolves, everything appended so far also survives a loss of power.
 * - `events` holds everything read or appended so far, in `seq` order. Nothing in it ever changes.
 * - A second writer of the same session is refused (`session_locked`); readers never are.
 * - A writer that was overtaken, whose log was replaced, or whose disk failed gets an error from every further append
 *   and writes nothing. `lost` is aborted with that error.
 * - If an append would make the log too large to be opened again, the whole append is refused (`log_too_large`). New
 *   turns are refused long before that; events that close a turn are refused last.
 * - `list` describes sessions by their summaries and avoids reading their logs where it can. A summary is never the
 *   truth.
 * - `scratch` holds live content that is not yet an event. It may be lost and is never the truth.
 * - `changes` reports to a reader what another writer does, without polling by the caller. It can be used together with
 *   `refresh`: each of them sees every event once.
 *
 * The contract suits a database: nothing is synchronous for the caller, and an append is one guarded statement.
 */

import type { EventDraft, LoggedEvent } from "../../base/events/index.ts";
import type { JsonObject, ThroughlineError } from "../../base/support/index.ts";
import type { StoredSummary } from "../facts/index.ts";

/** A draft, or an event copied from another log that keeps its id and time. */
export type AppendDraft = EventDraft & { readonly id?: string; readonly at?: string };

/** Options of `Log.append`. */
export interface AppendOptions {
  /**
   * When the append resolves, everything appended so far survives a loss of power. With no drafts, a durable append
   * creates an empty session if there was none.
   */
  readonly durable?: boolean | undefined;
  /** These events begin or end a turn. Lets a store keep the summary that its list shows up to date. */
  readonly turn?: "begin" | "end" | undefined;
}

/** Rows of live content: one line of JSON each, without its LF. */
export interface Scratch {
  /** Adds rows. Cheap, not durable. */
  write(rows: readonly string[]): void;
  /** All complete rows. A row torn by a crash is omitted. */
  rows(): Promise<readonly string[]>;
  clear(): void;
}

/**
 * One change of a log as a reader sees it. Rows are read before events, so the response of a row is known unless it has
 * ended.
 */
export interface LogChange {
  /** Events new since the previous change, or since `changes` was called. They are in `Log.events` too. */
  readonly events: readonly LoggedEvent[];
  /** Scratch rows added since the previous change. The first change has all rows that exist. */
  readonly rows: readonly string[];
  /** Whether a live process held the session as its writer before the rows and events were read. */
  readonly hasWriter: boolean;
}

/** The log of one session: an append-only list of events with one writer. */
export interface Log {
  readonly session: string;
  readonly mode: "write" | "read";
  /** Where to find it: a path, or a word such as "memory" for a log without one. */
  readonly location: string;
  readonly events: readonly LoggedEvent[];
  /** Aborted when this log can never be written again, with the error as its reason. Never aborted for a reader. */
  readonly lost: AbortSignal;
  /**
   * True if the store was restored to an earlier state since this session was last written. The end of the log may be
   * missing, so every call of an open turn counts as started.
   */
  readonly restored: boolean;
  /** Stamps the drafts and writes them in order, all or none. Resolves to the events. */
  append(drafts: readonly AppendDraft[], options?: AppendOptions): Promise<readonly LoggedEvent[]>;
  /**
   * Called before a request is sent and before a tool runs. Rejects and aborts `lost` if another process may write by
   * now.
   */
  assertWriter(): Promise<void>;
  /** Why no new turn can begin. Returns undefined, or is not implemented, if one can. */
  refusal?(): ThroughlineError | undefined;
  /** The bytes of `events` exactly as the store keeps them (docs/log-format.md). */
  lines(): Promise<Buffer>;
  /** Reads what another writer has added since, and resolves to the new events. Always empty for a writer. */
  refresh(): Promise<readonly LoggedEvent[]>;
  /**
   * Yields the first change at once, then one whenever something is new. Ends when the signal aborts or when the log or
   * its store is closed; rejects as `refresh` does. For a writer it ends at once.
   */
  changes(signal?: AbortSignal): AsyncIterable<LogChange>;
  /** Whether a live process, possibly this one, holds this session as its writer. */
  hasWriter(): Promise<boolean>;
  readonly scratch: Scratch;
  /** Stores bytes next to the log and resolves to their name, the SHA-256 in hex. */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** Resolves to undefined if there is no such blob. */
  getBlob(name: string): Promise<Uint8Array | undefined>;
  /** Releases the session. Everything appended stays. */
  close(): Promise<void>;
}

export interface OpenOptions extends Pick<Log, "mode"> {
  /**
   * How many milliseconds to wait for another writer to release the session before failing with `session_locked`.
   * Default: 0.
   */
  readonly wait?: number | undefined;
}

/** A session in the list of a store. */
export interface StoredSession {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** The size of the log. */
  readonly bytes: number;
  /** What lists show of it. No request is made from it. */
  readonly summary?: StoredSummary | undefined;
  /** Why it cannot be read; there is no summary then. May contain a path; `problemCode` does not. */
  readonly problem?: string | undefined;
  readonly problemCode?: string | undefined;
}

/** Options of `Store.list`. */
export interface ListOptions {
  /** How many sessions to list. Default: all. */
  readonly limit?: number | undefined;
  /** List only sessions that come after this one. */
  readonly behind?: Pick<StoredSession, "id" | "modifiedAt"> | undefined;
  /** Case-insensitive; matches the title, id or folder. */
  readonly search?: string | undefined;
  /** If false, the list has only id, time and size. A search needs summaries anyway. Default: true. */
  readonly summaries?: boolean | undefined;
}

export interface WholeSession {
  readonly events: readonly AppendDraft[];
  /** Every blob that the events name, by name. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** A turn that was promised and has not begun, so it is not in the log yet. */
export interface WaitingTurn {
  readonly turn: string;
  /** Everything another process needs to begin the turn. */
  readonly request: JsonObject;
  /** The turn must not begin; only its end still has to be logged. */
  readonly cancelled: boolean;
}

/**
 * The waiting turns of a session, in the order in which they were promised. Only the writer of the session changes the
 * list. A turn leaves it when the log has it: a turn found in both is dropped here.
 */
export interface Waiting {
  /** Anyone may read the list. Unreadable lines are skipped. */
  list(): Promise<readonly WaitingTurn[]>;
  /** The writer calls this first. It cuts a torn end, moves a damaged file aside, and reports damage as `problem`. */
  recover(): Promise<{ readonly turns: readonly WaitingTurn[]; readonly problem?: string }>;
  /** Durable once it resolves, like `cancel`. */
  add(turn: string, request: JsonObject): Promise<void>;
  cancel(turn: string): Promise<void>;
  remove(turn: string): Promise<void>;
}

/** Keeps sessions: `fileStore`, `memoryStore`, or your own. docs/api.md describes the contract. */
export interface Store {
  /**
   * Opens a session. The first append creates a missing one, even a durable append without drafts; opening a missing
   * one to read is `session_not_found`.
   */
  open(id: string, options: OpenOptions): Promise<Log>;
  /**
   * Creates a session with all of its content, or nothing at all. If the id is taken, the error is `session_exists`.
   */
  create(id: string, whole: WholeSession): Promise<void>;
  exists(id: string): Promise<boolean>;
  /**
   * Newest first, then by id; sessions dated in the future come last. Sessions are read one by one, so a caller that
   * stops early reads no more than it used. A session that cannot be read is listed with its problem.
   */
  list(options?: ListOptions): AsyncIterable<StoredSession>;
  /** Removes the session and all files that belong to it. */
  remove(id: string): Promise<void>;
  /** The turns of a session that a server has promised and that have not begun. */
  waiting(id: string): Waiting;
  /** The sessions that have waiting turns. */
  sessionsWithWaiting(): AsyncIterable<string>;
  /**
   * Releases what the store itself holds and ends the `changes` of its logs. Open logs stay open; opening another is
   * `store_closed`.
   */
  close(): Promise<void>;
}

/** The first ancestor of a family of forks. All of them share a prompt cache. */
export function rootOf(log: { readonly session: string; readonly events: readonly LoggedEvent[] }): string {
  const [first] = log.events;
  return first?.type === "session_start" ? first.root : log.session;
}
