/** The public types of agents and local sessions: plain objects, async iterables, AbortSignal. */

import type {
  CompactOptions,
  EditOptions,
  FollowOptions,
  ForkOptions,
  Input,
  RequestPreview,
  ResumeOptions,
  RetryOptions,
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
import type { McpTools, OutputOf, StandardSchema, Tool } from "../tools/index.ts";
import type { PermissionPolicy, RepairArguments, TurnLimits, WireRecord } from "../turn/index.ts";

/** Options of `createAgent`. Only `model` is required. */
export interface AgentOptions {
  /** From `openai`, `anthropic`, `openaiChat`, `emulator` or `modelFrom`. */
  readonly model: Model;
  /**
   * The models to try next, in order, when a model is down, out of quota or rate-limited beyond the retries. The rest of
   * the turn runs on the fallback; the next turn starts with `model` again. Default: none, the turn fails.
   */
  readonly fallback?: readonly Model[] | undefined;
  /**
   * Returns a model by its name, so that `setModel` and similar methods accept names. `modelFrom` is such a function.
   */
  readonly modelFrom?: ((name: string) => Model) | undefined;
  /** From `tool`, `builtinTools` or `mcpTools`, with different names. Default: none. */
  readonly tools?: readonly (Tool | McpTools)[] | undefined;
  /**
   * Called once for a call whose arguments do not parse or do not fit its tool. Returns the repaired JSON text, or
   * undefined to let the model know what is wrong. Default: none.
   */
  readonly repairArguments?: RepairArguments | undefined;
  /** Instructions for the model. */
  readonly system?: string | undefined;
  /** What tools may do. "ask" waits for `approve` or `deny`. Default: "read-only". */
  readonly permissions?: PermissionPolicy | undefined;
  /**
   * With permissions "ask": calls that run without a question, as `TOOL` or `TOOL:PATTERN`. docs/api.md says what a
   * pattern covers. Default: none.
   */
  readonly allow?: readonly string[] | undefined;
  /** If false, questions cannot be answered, so "ask" denies the call and says so. Default: true. */
  readonly interactive?: boolean | undefined;
  /**
   * Which reasoning goes back to the model. `otherModels: "note"` adds the readable summary of another model's
   * reasoning as a marked note. Default: `{ reasoning: "all", otherModels: "omit" }`.
   */
  readonly replay?:
    | { readonly reasoning?: ReplayPolicy | undefined; readonly otherModels?: "omit" | "note" | undefined }
    | undefined;
  /** Limits of a turn. docs/api.md lists the defaults. */
  readonly limits?: Given<TurnLimits> | undefined;
  /**
   * When to summarise the front of a session: once the share `at` of a known context is used. Default: `{ automatic:
   * true, at: 0.85 }`.
   */
  readonly compaction?:
    | { readonly automatic?: boolean | undefined; readonly at?: number | undefined }
    | undefined;
  /** Called with every request body and every byte of its answer. Nothing is redacted. */
  readonly trace?: ((record: WireRecord) => void) | undefined;
  /** Replaces Node's HTTP client. */
  readonly fetch?: typeof fetch | undefined;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** The working directory to record in `session_start`. */
  readonly cwd?: string | undefined;
  /** More values to keep out of the log. The models' keys are known already. */
  readonly secrets?: readonly string[] | undefined;
}

/** Options of `Agent.open`. */
export interface OpenSessionOptions {
  /** Up to 64 letters, digits, `_` and `-`. Default: a new session. */
  readonly id?: string | undefined;
  /** Default: a memory store that lives as long as the agent. */
  readonly store?: Store | undefined;
  /** A session has one writer and any number of readers. Default: "write". */
  readonly mode?: "write" | "read" | undefined;
}

/** A model with tools, permissions and limits. Opens sessions. */
export interface Agent {
  /**
   * Opens a session, or creates it. Starts no turn, even if the last one was interrupted. A session that this agent
   * already holds for writing is shared: the new handle is on the same live session, which the last `close` releases.
   * Throws `session_open_elsewhere` if another agent of this process holds it, and `session_locked` if another process
   * does.
   */
  open(options?: OpenSessionOptions): Promise<Session>;
  /** Opens the session with this id to write, or creates it: `open({ id, store })`. For servers, once per request. */
  session(id: string, options?: Pick<OpenSessionOptions, "store">): Promise<Session>;
  /** Lists the sessions of a store, newest first. Default: the agent's memory store. */
  sessions(store?: Store): AsyncIterable<SessionSummary>;
}

/** The schema of a structured answer: a Standard Schema or a JSON Schema, with an object at the top. */
export type OutputSchema = StandardSchema | JsonObject;

/** The type of the value that a schema returns, after its defaults and transforms. `unknown` for a JSON Schema. */
export type InferOutput<Schema extends OutputSchema> = Schema extends StandardSchema
  ? OutputOf<Schema>
  : unknown;

/** Options of `Session.send`. */
export interface SendOptions extends TurnOptions {
  /** For this turn only. */
  readonly model?: Model | string | undefined;
  /** How hard the model thinks in this turn. Default: the model's own setting. */
  readonly effort?: Effort | undefined;
  /**
   * The answer must be JSON that the schema accepts; `result().output` is the value. A bad answer gets one corrective
   * step.
   */
  readonly output?: OutputSchema | undefined;
  /**
   * What to do while another turn runs or waits. `queue`: the new turn waits behind it. `reject`: `send` throws
   * `session_busy`. `steer`: the message joins the running turn before its next request, and the returned turn ends
   * with that turn. If the running turn ends first, the message starts its own turn ahead of those that wait. `steer`
   * excludes `model`, `effort` and `output`. Default: "queue".
   */
  readonly whenBusy?: "queue" | "reject" | "steer" | undefined;
}

/** A session of this process. It accepts models themselves as well as their names. */
export interface Session extends SessionHandle {
  readonly model: Model;
  /** The path of the log, or "memory". */
  readonly location: string;
  /** Starts a turn with a message. With an `output` schema, the result of a completed turn has its typed value. */
  send<Schema extends OutputSchema>(
    input: Input,
    options: SendOptions & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  send(input: Input, options: SendOptions & { readonly whenBusy: "steer" }): Turn;
  send(input: Input, options?: SendOptions & { readonly output?: undefined }): Turn<undefined>;
  send(input: Input, options?: SendOptions): Turn;
  /**
   * Finishes an interrupted turn. It keeps its output schema: after a restart that is the JSON Schema in the log,
   * without transforms, and `output` is `unknown`. Pass the schema again for a typed value.
   */
  resume<Schema extends OutputSchema>(
    options: ResumeOptions<Schema> & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  resume(options?: ResumeOptions<OutputSchema>): Turn;
  /** Answers the last message again, on a new branch, with the same output schema or another. */
  retry<Schema extends OutputSchema>(
    options: RetryOptions<Schema> & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  retry(options?: RetryOptions<OutputSchema>): Turn;
  /** Replaces the user message at `seq` and answers the new one, with the same output schema or another. */
  edit<Schema extends OutputSchema>(
    seq: number,
    input: Input,
    options: EditOptions<Schema> & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  edit(seq: number, input: Input, options?: EditOptions<OutputSchema>): Turn;
  /**
   * For a session opened to read: reads what another process has written, and whether it still writes (`writer`,
   * `interrupted`). Followers get this automatically. A session opened to write is always up to date.
   */
  refresh(): Promise<void>;
  /** Whether a turn or a compaction runs or waits in this process. */
  readonly busy: boolean;
  /** Whether a question waits for a person's answer in this process. */
  readonly asks: boolean;
  /** Takes back a message that waits. `keep` makes that durable; if it rejects, the message stays in the queue. */
  withdraw(turn: string, keep?: () => Promise<void>): Promise<Input>;
  /** Like `follow`, in arrays as the events arrived. All followers get the same arrays. */
  followBatches(options?: FollowOptions): AsyncIterable<readonly SessionEvent[]>;
  /**
   * Cancels the running turn, waits for it and releases the session. `beforeRelease` runs after the turns have ended,
   * while the session is still held. With "leave", the turn stays open in the log and another node goes on with it.
   */
  close(beforeRelease?: () => Promise<void>, turns?: "cancel" | "leave"): Promise<void>;
  /** How many nodes in a row ended while they ran the open turn. */
  readonly takeovers: number;
  /** Ends the interrupted turn for good, with a notice that says why. */
  closeInterrupted(code: string, message: string): Promise<void>;
  /** Creates the session on disk before its first message, with its model. Durable once it resolves. */
  persist(): Promise<void>;
  /** Ends a promised turn that never began, so that its id starts nothing later. A turn has one end: `turn_exists`. */
  endUnbegun(turn: string, end: Pick<TurnEnding, "status" | "error">): Promise<void>;
  setModel(model: Model | string): Promise<void>;
  previewSwitch(model: Model | string): Promise<SwitchPreview>;
  fork(options?: ForkOptions): Promise<Session>;
  compact(options?: CompactOptions): Promise<void>;
  checkout(options: { readonly to: number }): Promise<void>;
  preview(options?: { readonly model?: Model | string | undefined }): Promise<RequestPreview>;
}
