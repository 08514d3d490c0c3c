/**
 * What anything that shows a session works with. A local `Session` is one, a remote session is one; a front end cannot
 * tell them apart. Models are named (`provider/model[:effort]`): a model itself holds keys and does not travel.
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

/** What can be told of a model: its name and what it is asked with; nothing secret. */
export interface ModelView {
  /** `provider/model`. */
  readonly label: string;
  readonly settings: Pick<Settings, "target" | "capabilities" | "effort">;
}

export interface TurnOptions {
  readonly signal?: AbortSignal | undefined;
  /** The turn's id, where the caller must know it beforehand; the same id never starts a second turn (`turn_exists`). */
  readonly turn?: string | undefined;
  /** Of a session in this process: called when the turn is accepted. It begins when that resolves, and ends unlogged if it rejects. */
  readonly ready?: (() => Promise<unknown>) | undefined;
  /** False: whoever iterates sees what comes from then on, and a long turn's deltas stay in nobody's memory. Default true. */
  readonly bufferEvents?: boolean | undefined;
}

export interface HandleSendOptions extends TurnOptions {
  /** By name, for this turn only. */
  readonly model?: string | undefined;
  readonly effort?: Effort | undefined;
  /** A JSON Schema: the answer must be JSON that fits; `result().output` is the value. */
  readonly output?: JsonObject | undefined;
  readonly whenBusy?: "queue" | "reject" | undefined;
}

export interface ForkOptions {
  /** The last event to take along; default: all. */
  readonly at?: number | undefined;
  readonly id?: string | undefined;
  /** Leaves behind what the last summary stands for. The next request stays the same, and the log is smaller. */
  readonly compacted?: boolean | undefined;
}

export interface CompactOptions {
  readonly instructions?: string | undefined;
  readonly keepTurns?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RetryOptions extends TurnOptions {
  /** `message`: from the message itself, whatever the turn had finished. */
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
  /** What the session has cost, where whoever gives the handle knows the prices; undefined: not known. */
  readonly costUsd?: number | undefined;
  readonly model: ModelView;
  /** How full the model's context is; undefined before a response has counted its tokens, and after a compaction. */
  readonly context?: ContextUse | undefined;
  /** The last event this handle knows of; -1 when there is none. */
  readonly lastSeq: number;
  /** A turn was interrupted: `resume` finishes it, `send` closes it. */
  readonly interrupted: boolean;
  /** `read`: opened to read, or another process writes it. What would write is refused (`log_read_only`). */
  readonly access: "write" | "read";
  /** Whether anybody holds the session as its writer. Without one nothing is being generated (law 9). */
  readonly writer: "live" | "none";
  /** `lost`: a remote session that is being reached again; what is shown may be behind. A local one is always `open`. */
  readonly connection: "open" | "lost";
  /** Calls back when a property above may have changed. The result ends it. */
  onChange(listener: () => void): () => void;

  send(input: Input, options?: HandleSendOptions): Turn;
  resume(options?: TurnOptions): Turn;
  /**
   * Answers the last message again, on a new branch. A turn that failed or ran into a limit goes on from the steps it had
   * finished: no tool runs twice.
   */
  retry(options?: RetryOptions): Turn;
  edit(seq: number, input: Input, options?: TurnOptions): Turn;
  /**
   * Stops the turn under way, whoever started it; turns that wait behind it stay. Resolves when it has ended: true if it
   * ended as cancelled, false if nothing was under way or it was over before it could be stopped.
   */
  cancel(): Promise<boolean>;
  /** With the `argumentsHash` of the question that was shown: refused when the question is about other arguments. */
  approve(requestId: string, options?: { readonly argumentsHash?: string | undefined }): Promise<void>;
  deny(requestId: string, reason?: string): Promise<void>;

  /** Takes effect at the next step, where it becomes an event. */
  setModel(name: string): Promise<void>;
  previewSwitch(name: string): Promise<SwitchPreview>;
  rename(title: string): Promise<void>;

  fork(options?: ForkOptions): Promise<SessionHandle>;
  /** Takes back the last message and what came of it. */
  undo(): Promise<void>;
  /** Drops everything before the last `count` turns from later requests. The log keeps it. */
  keepLastTurns(count: number): Promise<void>;
  /** Drops the event `seq` and everything after it from later requests. The log keeps it. */
  truncateFrom(seq: number): Promise<void>;
  /** Goes to another branch: the path as it was at the end of the turn that `to` belongs to. */
  checkout(options: { readonly to: number }): Promise<void>;
  compact(options?: CompactOptions): Promise<void>;

  events(options?: EventsOptions): AsyncIterable<LoggedEvent>;
  /** History, then what is open, then live. */
  follow(options?: FollowOptions): AsyncIterable<SessionEvent>;
  /** Bytes beside the log, by the name an event gives them. */
  blob(name: string): Promise<Uint8Array | undefined>;
  /** The exact next request, without sending it. */
  preview(options?: { readonly model?: string | undefined }): Promise<RequestPreview>;
  explain(options?: ExplainOptions): Promise<readonly Decision[]>;
  /** The nth request, from 1, rebuilt from the log and proven by its hash. */
  rebuild(request: number): Promise<RebuiltRequest>;

  /** Lets go of the session. A local one ends its turn; a remote one leaves it running. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
