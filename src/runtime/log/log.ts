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
import type { Metric, NodeFacts, StoreHealth } from "./store-facts.ts";
import type { TokenTable } from "./token-table.ts";

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
  /** How many nodes in a row ended while they ran the open turn. Absent or 0 where only one machine can write. */
  readonly takeovers?: number | undefined;
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
  /**
   * Releases the session with its turn left open, so that another node goes on with it at once. Not implemented where
   * only one machine can write.
   */
  handOver?(): Promise<void>;
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
  /** The exact lines of these events, from another store. They are kept byte for byte, with their ids and epochs. */
  readonly lines?: Buffer | undefined;
  /** Every blob that the events name, by name. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** When it was last written, in milliseconds since 1970. Default: now. */
  readonly modifiedAt?: number | undefined;
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

/** Something to do in a session that another node may hold: stop a turn, or answer a question. */
export interface Command {
  /** Two commands with the same key are the same command, sent again. */
  readonly key: string;
  readonly kind: "cancel" | "decide";
  readonly body: JsonObject;
}

/** Who will carry out what was admitted. */
export interface Admission {
  /** The name of the living node that holds the session. Undefined: nobody does, so the sender acts itself. */
  readonly holder: string | undefined;
  /** Whether that node takes commands. A terminal holds its session without reading its inbox. */
  readonly takesCommands: boolean;
  /** Whether a node of the session's pool goes on with it without being asked, now or soon. */
  readonly wakes: boolean;
}

/** What a store that several machines share can do beyond keeping sessions (docs/store-postgres.md). */
export interface SharedStore {
  /** The name of this process among the nodes. */
  readonly node: string;
  /** Whose sessions these are. */
  readonly tenant: string;
  /** Whether this node takes commands, and goes on with the turns of dead nodes of its pool. */
  readonly pool: string | undefined;
  /** Says who holds a session, without admitting anything. */
  holderOf(id: string): Promise<Admission>;
  /** Adds a turn to the waiting turns of a session that any node may hold. Durable once it resolves. */
  admitTurn(id: string, turn: string, request: JsonObject): Promise<Admission>;
  /** The same for a command. */
  admitCommand(id: string, command: Command): Promise<Admission>;
  /**
   * Makes sure that no other node has taken over the sessions held here. If one may have, their logs are lost
   * (`Log.lost`).
   */
  confirmLease(): Promise<void>;
  /** The commands to a session that this node holds. From then on they count as seen. */
  commands(id: string): Promise<readonly Command[]>;
  /** Removes commands that were carried out, or are no longer needed, unless another node holds the session by now. */
  settleCommands(id: string, keys: readonly string[]): Promise<void>;
  /** Leaves the open turn of a session that this node holds alone: no node goes on with it until something is asked. */
  rest(id: string): Promise<void>;
  /** Calls the listener when something was admitted to a session that this node holds. */
  onAsked(listener: (id: string, tenant: string) => void): () => void;
  /** Calls the listener when another node says that it leaves an open turn or an unread request behind. */
  onWake(listener: () => void): () => void;
  /** Sessions of this node's pool with an open turn or an unread request, whose node is gone. */
  orphans(limit: number): Promise<readonly { readonly tenant: string; readonly id: string }[]>;
  /** The same store for another tenant, over the same connections and lease. */
  forTenant(tenant: string): Store;
  /** Nothing new is taken over from now on, and other nodes see that this one is about to leave. */
  drain(): Promise<void>;
  /** Who may use it, for all tenants. */
  readonly tokens: TokenTable;
  /** Whether this node can work: asks the database, for at most a second. */
  health(): Promise<StoreHealth>;
  /** The living nodes, this one included. */
  nodes(): Promise<readonly NodeFacts[]>;
  /** What the other nodes shall know of this one. They see it with the next renewal of its lease. */
  describe(facts: Pick<NodeFacts, "models">): void;
  /** What this process has counted, for all tenants. */
  metrics(): Promise<readonly Metric[]>;
  /** How many sessions this tenant has, and how large their logs are. */
  usage(): Promise<{ readonly sessions: number; readonly bytes: number }>;
}

/** Keeps sessions: `fileStore`, `memoryStore`, `postgresStore`, or your own. docs/api.md describes the contract. */
export interface Store {
  /** Present if several machines share the store. */
  readonly shared?: SharedStore | undefined;
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
  /** How many sessions there are. Reads none of them. Default: they are listed and counted. */
  count?(): Promise<number>;
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
