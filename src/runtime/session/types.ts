/** The session as its user meets it: plain objects, async iterables, AbortSignal. */

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
  /** A model by its name, for `setModel` and its like; `modelFrom` is one. Without it models are not taken by name. */
  readonly modelFrom?: (name: string) => Model;
  readonly tools?: readonly Tool[] | undefined;
  readonly system?: string | undefined;
  /** Default "read-only". "ask" waits for `approve` or `deny`; with `interactive: false` it is a denial that says so. */
  readonly permissions?: PermissionPolicy | undefined;
  readonly interactive?: boolean | undefined;
  /** `otherModels: "note"`: the readable summary of another model's reasoning goes along, marked. Default: left out. */
  readonly replay?:
    | { readonly reasoning?: ReplayPolicy | undefined; readonly otherModels?: "omit" | "note" | undefined }
    | undefined;
  readonly limits?: Given<TurnLimits> | undefined;
  /** Of itself when the context is full: on unless `automatic` is false; `at` is the share, 0.85 unless given. */
  readonly compaction?:
    | { readonly automatic?: boolean | undefined; readonly at?: number | undefined }
    | undefined;
  /** Sees every request and every byte of its answer, exactly. */
  readonly trace?: (record: WireRecord) => void;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** Recorded at the start of a session: `-c` looks for it. */
  readonly cwd?: string | undefined;
  /** Further values that must never reach the log; the models' keys are known already. */
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
  /** The answer must be JSON that fits; `result().output` is the value. */
  readonly output?: OutputSchema | undefined;
  readonly whenBusy?: "queue" | "reject" | undefined;
}

/** The handle of this process: it takes models themselves, beside their names. */
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
   * Opened to read: reads what another process has written since, and whether it still writes (`writer`, `interrupted`).
   * While somebody follows that comes by itself. A session that is written here is never behind.
   */
  refresh(): Promise<void>;
  /** A turn or a compaction is under way here, or waits. */
  readonly busy: boolean;
  /** As `follow`, in the batches in which events came; all followers are given the same ones. */
  followBatches(options?: FollowOptions): AsyncIterable<readonly SessionEvent[]>;
  /** `beforeRelease`: waited for when its turns have ended and the log is still held. */
  close(beforeRelease?: () => Promise<void>): Promise<void>;
  /** Makes the session exist before anything is said in it, with the model that was chosen for it. Durable when it has resolved. */
  persist(): Promise<void>;
  /** Ends a turn that was promised and never began, so that its id says what became of it and starts nothing later. */
  endUnbegun(turn: string, end: Pick<TurnEnding, "status" | "error">): Promise<void>;
  setModel(model: Model | string): Promise<void>;
  previewSwitch(model: Model | string): Promise<SwitchPreview>;
  fork(options?: ForkOptions): Promise<Session>;
  compact(options?: CompactOptions): Promise<void>;
  checkout(options: { readonly to: number }): Promise<void>;
  preview(options?: { readonly model?: Model | string | undefined }): Promise<RequestPreview>;
}
