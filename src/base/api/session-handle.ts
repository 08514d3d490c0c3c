/**
 * The handle that every front end works with. Local and remote sessions implement it, and a front end cannot tell them
 * apart. Models are named (`provider/model[:effort]`), because a model object holds keys and cannot be sent.
 */

import type {
  ContextUse,
  Decision,
  Effort,
  InputPart,
  LoggedEvent,
  SessionEvent,
  Settings,
  Usage,
} from "../events/index.ts";
import type { JsonObject } from "../support/index.ts";
import type { ExplainOptions, RebuiltRequest, RequestPreview, SwitchPreview } from "./request-views.ts";
import type { Turn } from "./turn.ts";

export type Input = string | readonly InputPart[];

/** What may be shown of a model: its name and its settings; nothing secret. */
export interface ModelView {
  /** `provider/model`. */
  readonly label: string;
  readonly settings: Pick<Settings, "target" | "capabilities" | "effort">;
}

export interface TurnOptions {
  readonly signal?: AbortSignal | undefined;
  /** The turn's id, if the caller must know it beforehand. The same id never starts a second turn (`turn_exists`). */
  readonly turn?: string | undefined;
  /**
   * Only for a session in this process: called when the turn is accepted. The turn begins when the promise resolves,
   * and ends unlogged if it rejects.
   */
  readonly ready?: (() => Promise<unknown>) | undefined;
  /**
   * If false, an iterator sees only events that arrive after it starts, and the turn does not keep its deltas in
   * memory. Default: true.
   */
  readonly bufferEvents?: boolean | undefined;
}

export interface HandleSendOptions extends TurnOptions {
  /** By name, for this turn only. */
  readonly model?: string | undefined;
  readonly effort?: Effort | undefined;
  /** A JSON Schema that the answer must fit; `result().output` is the value. */
  readonly output?: JsonObject | undefined;
  readonly whenBusy?: "queue" | "reject" | undefined;
}

export interface ForkOptions {
  /** The last event to copy. Default: all. */
  readonly at?: number | undefined;
  readonly id?: string | undefined;
  /** Omits what the last summary covers. The next request stays the same, and the log is smaller. */
  readonly compacted?: boolean | undefined;
}

export interface CompactOptions {
  readonly instructions?: string | undefined;
  readonly keepTurns?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RetryOptions extends TurnOptions {
  /** `message`: start again from the message, even if the turn had finished steps. */
  readonly from?: "message" | undefined;
}

export interface EventsOptions {
  readonly after?: number | undefined;
  readonly path?: "active" | "all" | undefined;
}

export interface FollowOptions {
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SessionHandle {
  readonly id: string;
  readonly title: string | undefined;
  readonly usage: Usage;
  /** What the session has cost, if the prices are known. */
  readonly costUsd?: number | undefined;
  readonly model: ModelView;
  /** How full the model's context is. Undefined until a response has reported its tokens, and after a compaction. */
  readonly context?: ContextUse | undefined;
  /** The seq of the last event this handle knows; -1 if there is none. */
  readonly lastSeq: number;
  /** Whether a turn was interrupted: `resume` finishes it, `send` closes it. */
  readonly interrupted: boolean;
  /** `read`: opened to read, or written by another process. Calls that would write are refused (`log_read_only`). */
  readonly access: "write" | "read";
  /** Whether a process holds the session as its writer. Without one, nothing is being generated (law 9). */
  readonly writer: "live" | "none";
  /** `lost`: a remote session that is reconnecting; what is shown may be out of date. A local one is always `open`. */
  readonly connection: "open" | "lost";
  /** Calls back when a property above may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void;

  send(input: Input, options?: HandleSendOptions): Turn;
  resume(options?: TurnOptions): Turn;
  /**
   * Answers the last message again on a new branch. A turn that failed or ran into a limit continues from the steps it
   * had finished, so no tool runs twice.
   */
  retry(options?: RetryOptions): Turn;
  edit(seq: number, input: Input, options?: TurnOptions): Turn;
  /**
   * Stops the running turn, whoever started it; waiting turns stay. Resolves when it has ended: true if it ended as
   * cancelled, false if nothing was running or it ended before it could be stopped.
   */
  cancel(): Promise<boolean>;
  /** If `argumentsHash` is given (from the question that was shown), the call is refused if the arguments differ. */
  approve(requestId: string, options?: { readonly argumentsHash?: string | undefined }): Promise<void>;
  deny(requestId: string, reason?: string): Promise<void>;

  /** Takes effect at the next step, where it becomes an event. */
  setModel(name: string): Promise<void>;
  previewSwitch(name: string): Promise<SwitchPreview>;
  rename(title: string): Promise<void>;

  fork(options?: ForkOptions): Promise<SessionHandle>;
  /** Removes the last message and everything after it from the active path. */
  undo(): Promise<void>;
  /** Drops everything before the last `count` turns from later requests. The log keeps it. */
  keepLastTurns(count: number): Promise<void>;
  /** Drops the event `seq` and everything after it from later requests. The log keeps it. */
  truncateFrom(seq: number): Promise<void>;
  /** Moves to another branch: the path as it was at the end of the turn that `to` belongs to. */
  checkout(options: { readonly to: number }): Promise<void>;
  compact(options?: CompactOptions): Promise<void>;

  events(options?: EventsOptions): AsyncIterable<LoggedEvent>;
  /** Yields history, then items in progress, then live events. */
  follow(options?: FollowOptions): AsyncIterable<SessionEvent>;
  /** A blob stored next to the log, by the name an event gives it. */
  blob(name: string): Promise<Uint8Array | undefined>;
  /** The exact next request, without sending it. */
  preview(options?: { readonly model?: string | undefined }): Promise<RequestPreview>;
  explain(options?: ExplainOptions): Promise<readonly Decision[]>;
  /** The nth request, counted from 1, rebuilt from the log and proven by its hash. */
  rebuild(request: number): Promise<RebuiltRequest>;

  /** Releases the session. A local one ends its turn; a remote one leaves it running. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
