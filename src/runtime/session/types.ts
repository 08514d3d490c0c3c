/** The public types of agents and local sessions: plain objects, async iterables, AbortSignal. */

import type {
  CompactOptions,
  FollowOptions,
  ForkOptions,
  Input,
  RequestPreview,
  SessionHandle,
  SessionSummary,
  SwitchPreview,
  Turn,
  TurnOptions,
  TurnEnding,
} from "../../base/api/index.ts";
import type { Effort, ReplayPolicy, SessionEvent } from "../../base/events/index.ts";
import type { Clock, Given, JsonObject } from "../../base/support/index.ts";
import type { Store } from "../log/index.ts";
import type { Model } from "../providers/index.ts";
import type { OutputOf, StandardSchema, Tool } from "../tools/index.ts";
import type { PermissionPolicy, TurnLimits, WireRecord } from "../turn/index.ts";

export interface AgentOptions {
  readonly model: Model;
  /**
   * Creates a model from its name, for `setModel` and similar calls; `modelFrom` is one. Without it, models are not
   * accepted by name.
   */
  readonly modelFrom?: (name: string) => Model;
  readonly tools?: readonly Tool[] | undefined;
  readonly system?: string | undefined;
  /**
   * Default: "read-only". "ask" waits for `approve` or `deny`; with `interactive: false` such a call is denied with
   * that reason.
   */
  readonly permissions?: PermissionPolicy | undefined;
  readonly interactive?: boolean | undefined;
  /**
   * With `otherModels: "note"`, the readable summary of another model's reasoning is sent, marked as such. Default:
   * omitted.
   */
  readonly replay?:
    | { readonly reasoning?: ReplayPolicy | undefined; readonly otherModels?: "omit" | "note" | undefined }
    | undefined;
  readonly limits?: Given<TurnLimits> | undefined;
  /**
   * Compacts automatically when the context is full, unless `automatic` is false. `at` is the share that counts as
   * full. Default: 0.85.
   */
  readonly compaction?:
    | { readonly automatic?: boolean | undefined; readonly at?: number | undefined }
    | undefined;
  /** Receives every request and every byte of its answer, exactly. */
  readonly trace?: (record: WireRecord) => void;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** Recorded at the start of a session; `-c` selects sessions by it. */
  readonly cwd?: string | undefined;
  /** Further values that must never reach the log. The models' keys are included automatically. */
  readonly secrets?: readonly string[] | undefined;
}

export interface OpenSessionOptions {
  readonly id?: string | undefined;
  /** Default: memory, gone with the agent. */
  readonly store?: Store | undefined;
  readonly mode?: "write" | "read" | undefined;
}

export interface Agent {
  open(options?: OpenSessionOptions): Promise<Session>;
  sessions(store?: Store): AsyncIterable<SessionSummary>;
}

/** A Standard Schema or a plain JSON Schema. */
export type OutputSchema = StandardSchema | JsonObject;

/** The type of the value that a schema's own parser returns, after defaults and transforms; `unknown` for a JSON Schema. */
export type InferOutput<Schema extends OutputSchema> = Schema extends StandardSchema
  ? OutputOf<Schema>
  : unknown;

export interface SendOptions extends TurnOptions {
  /** For this turn only. */
  readonly model?: Model | string | undefined;
  readonly effort?: Effort | undefined;
  /** The answer must be JSON that fits this schema; `result().output` is the value. */
  readonly output?: OutputSchema | undefined;
  readonly whenBusy?: "queue" | "reject" | undefined;
}

/** The handle of a session in this process. It accepts models themselves as well as their names. */
export interface Session extends SessionHandle {
  readonly model: Model;
  /** Where the log is. */
  readonly location: string;
  send<Schema extends OutputSchema>(
    input: Input,
    options: SendOptions & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  send(input: Input, options?: SendOptions & { readonly output?: undefined }): Turn<undefined>;
  send(input: Input, options?: SendOptions): Turn;
  /**
   * For a session opened to read: reads what another process has written since, and whether it still writes (`writer`,
   * `interrupted`). While the session is followed, this happens automatically. A session written by this process is
   * always up to date.
   */
  refresh(): Promise<void>;
  /** Whether a turn or a compaction is running or waiting here. */
  readonly busy: boolean;
  /** Like `follow`, in batches as events arrived. All followers get the same arrays. */
  followBatches(options?: FollowOptions): AsyncIterable<readonly SessionEvent[]>;
  /** `beforeRelease` is awaited after the turns have ended and before the log is released. */
  close(beforeRelease?: () => Promise<void>): Promise<void>;
  /** Creates the session in the store before its first message, with the chosen model. Durable once it resolves. */
  persist(): Promise<void>;
  /** Ends a promised turn that never began, so that its id has an outcome and cannot start a turn later. */
  endUnbegun(turn: string, end: Pick<TurnEnding, "status" | "error">): Promise<void>;
  setModel(model: Model | string): Promise<void>;
  previewSwitch(model: Model | string): Promise<SwitchPreview>;
  fork(options?: ForkOptions): Promise<Session>;
  compact(options?: CompactOptions): Promise<void>;
  checkout(options: { readonly to: number }): Promise<void>;
  preview(options?: { readonly model?: Model | string | undefined }): Promise<RequestPreview>;
}
