/**
 * The handle that every front end works with. Local and remote sessions implement it, and a front end cannot tell them
 * apart. Models are named (`provider/model[:effort]`), because a model object holds keys and cannot be sent.
 */

import type {
  ContextUse,
  Decision,
  Effort,
  ElicitationAnswer,
  InputPart,
  LoggedEvent,
  SessionEvent,
  Settings,
  Usage,
} from "../events/index.ts";
import type { JsonObject } from "../support/index.ts";
import type { McpPrompt, McpPromptMessage, McpServerView } from "./mcp.ts";
import type { QueuedTurn } from "./queued-turn.ts";
import type { ExplainOptions, RebuiltRequest, RequestPreview, SwitchPreview } from "./request-views.ts";
import type { Turn } from "./turn.ts";

/** A user message: plain text, or a list of text, image and file parts. */
export type Input = string | readonly InputPart[];

/** A model without its secrets: its name and the settings that its requests are made with. */
export interface ModelView {
  /** `provider/model`. */
  readonly label: string;
  readonly settings: Pick<Settings, "target" | "capabilities" | "effort">;
}

/** Options of every method that starts a turn. */
export interface TurnOptions {
  /** Aborting it cancels the turn. */
  readonly signal?: AbortSignal | undefined;
  /** The turn's id, if the caller must know it beforehand. The same id never starts a second turn (`turn_exists`). */
  readonly turn?: string | undefined;
  /**
   * Local sessions only. Called when the turn is accepted. The turn begins when it resolves, and ends unlogged if it
   * rejects.
   */
  readonly ready?: (() => Promise<unknown>) | undefined;
  /**
   * If false, an iterator sees only events that arrive after it starts, and the turn keeps no events in memory.
   * Default: true.
   */
  readonly bufferEvents?: boolean | undefined;
}

/** Options of `send` on a handle: models are given by name, and the output schema is a JSON Schema. */
export interface HandleSendOptions extends TurnOptions {
  /** A model name, for this turn only. */
  readonly model?: string | undefined;
  /** How hard the model thinks in this turn. Default: the model's own setting. */
  readonly effort?: Effort | undefined;
  /** A JSON Schema. The answer must be JSON that the schema accepts; `result().output` is the value. */
  readonly output?: JsonObject | undefined;
  /**
   * What to do while another turn runs or waits. `queue`: the new turn waits behind it. `reject`: `send` throws
   * `session_busy`. `steer`: the message joins the running turn before its next request, and the returned turn ends
   * with that turn. If the running turn ends first, the message starts its own turn ahead of those that wait. `steer`
   * excludes `model`, `effort` and `output`. Default: "queue".
   */
  readonly whenBusy?: "queue" | "reject" | "steer" | undefined;
}

/** A rule in force: it allows calls without a question. */
export interface RuleView {
  /** `TOOL` or `TOOL:PATTERN`. */
  readonly rule: string;
  /** `agent`: it was given to `createAgent`. `session`: a person added it to this session. */
  readonly from: "agent" | "session";
}

/** Options of `approve`. */
export interface ApproveOptions {
  /** The hash of the request that was shown. The call is refused if its arguments differ. */
  readonly argumentsHash?: string | undefined;
  /**
   * Also adds the request's `rule` to the session, so that later calls that it covers run without a question. Refused
   * (`allow_rule_invalid`) if the request has no rule.
   */
  readonly forSession?: boolean | undefined;
}

/** Options of `fork`. */
export interface ForkOptions {
  /** The last event to copy. Default: the last event of the session. */
  readonly at?: number | undefined;
  /** The id of the new session. Default: a new id. */
  readonly id?: string | undefined;
  /** Leaves out what the last summary replaces. The next request stays the same, and the log is smaller. */
  readonly compacted?: boolean | undefined;
}

/** Options of `compact`. */
export interface CompactOptions {
  /** What the summary should pay attention to. */
  readonly instructions?: string | undefined;
  /** How many of the last turns stay as they are. Default: 1, or 0 if there is only one turn. */
  readonly keepTurns?: number | undefined;
  /** Aborting it cancels the compaction (`compaction_cancelled`). */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `resume`. `Schema` is a JSON Schema on a handle; a local session accepts any `OutputSchema`. */
export interface ResumeOptions<Schema = JsonObject> extends TurnOptions {
  /** The schema of the answer. Default: the one the turn began with, if it had one. */
  readonly output?: Schema | undefined;
}

/** Options of `edit`. `Schema` is a JSON Schema on a handle; a local session accepts any `OutputSchema`. */
export interface EditOptions<Schema = JsonObject> extends TurnOptions {
  /** The schema of the answer. Default: that of the turn whose message is replaced, if it had one. */
  readonly output?: Schema | undefined;
}

/** Options of `retry`. `Schema` is a JSON Schema on a handle; a local session accepts any `OutputSchema`. */
export interface RetryOptions<Schema = JsonObject> extends TurnOptions {
  /** The schema of the answer. Default: that of the turn which is repeated, if it had one. */
  readonly output?: Schema | undefined;
  /** `message`: starts again at the message and repeats the steps that the turn had finished. */
  readonly from?: "message" | undefined;
}

/** Options of `events`. */
export interface EventsOptions {
  /** Yields only events with a larger `seq`. Default: all events. */
  readonly after?: number | undefined;
  /** `active`: only the events of the current branch. Default: "all". */
  readonly path?: "active" | "all" | undefined;
}

/** Options of `follow`. */
export interface FollowOptions {
  /** Yields only logged events with a larger `seq`. Default: all events. */
  readonly after?: number | undefined;
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

/** A session as a front end sees it. Local and remote sessions both implement it. */
export interface SessionHandle {
  readonly id: string;
  /** The title that `rename` set. Default: the first words of the first message. */
  readonly title: string | undefined;
  /** The tokens of all responses in the log. */
  readonly usage: Usage;
  /** The cost of a remote session in USD. Undefined if a price is not known, and for a local session. */
  readonly costUsd?: number | undefined;
  /** The model that the next step uses. */
  readonly model: ModelView;
  /** How full the model's context is. Undefined until a response has reported its tokens, and after a compaction. */
  readonly context?: ContextUse | undefined;
  /** The rules in force: calls that they cover run without a question. */
  readonly rules: readonly RuleView[];
  /** The `seq` of the last event this handle knows, or -1 if there is none. */
  readonly lastSeq: number;
  /** Whether the last turn has no end. `resume` finishes it, `send` closes it. */
  readonly interrupted: boolean;
  /** `read`: the session was opened to read, or another process writes it. Writing is refused (`log_read_only`). */
  readonly access: "write" | "read";
  /** Whether any process holds the session as its writer. Without a writer nothing is being generated (law 9). */
  readonly writer: "live" | "none";
  /**
   * `lost`: a remote session is reconnecting, and its properties may be out of date. A local session is always `open`.
   */
  readonly connection: "open" | "lost";
  /**
   * The messages that wait for their turn, in the order in which they begin, whichever client sent them. A message is
   * listed until the log has it.
   */
  readonly queued: readonly QueuedTurn[];
  /** Calls the listener when a property above may have changed. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void;

  /** Starts a turn with a message. Turns run one after another. */
  send(input: Input, options?: HandleSendOptions): Turn;
  /**
   * Finishes an interrupted turn. Calls that never started run; calls that did run again only if their tool is
   * idempotent. The turn keeps its output schema.
   */
  resume(options?: ResumeOptions): Turn;
  /**
   * Answers the last message again, on a new branch. A turn that failed or reached a limit continues from the steps it
   * had finished: no tool runs twice. The new turn has the same output schema.
   */
  retry(options?: RetryOptions): Turn;
  /** Replaces the user message at `seq` and answers the new one, on a new branch, with the same output schema. */
  edit(seq: number, input: Input, options?: EditOptions): Turn;
  /**
   * Stops the running turn, no matter which client started it; waiting turns stay. Resolves when the turn has ended:
   * true if it was cancelled, false if no turn was running or it ended first.
   */
  cancel(): Promise<boolean>;
  /**
   * Takes back a message that waits: it never begins, and its turn ends as `cancelled`. Resolves to the whole message,
   * once that is certain. Rejects if the turn has begun or the message has joined one (`turn_begun`), if it has ended
   * (`turn_ended`), if it has no message (`not_a_message`), or if there is no such turn (`turn_unknown`).
   */
  withdraw(turn: string): Promise<Input>;
  /**
   * Allows a call. Pass the `argumentsHash` of the request that was shown: the call is refused if its arguments differ.
   */
  approve(requestId: string, options?: ApproveOptions): Promise<void>;
  /** Denies a call. The model gets the reason. */
  deny(requestId: string, reason?: string): Promise<void>;
  /**
   * Answers the question of a running tool (`elicitation_request`). Values that do not fit the form are refused
   * (`elicitation_invalid`), and the question stays open. The values go to the tool only: they are not logged.
   */
  answer(requestId: string, answer: ElicitationAnswer): Promise<void>;

  /** Adds a rule to this session: calls that it covers run without a question. Durable once it resolves. */
  allow(rule: string): Promise<void>;
  /** Removes a rule that a person added to this session (`rule_not_found`). */
  disallow(rule: string): Promise<void>;

  /** Switches to another model at the next step, even inside a turn. */
  setModel(name: string): Promise<void>;
  /** Returns how much reasoning the other model would get. Changes nothing. */
  previewSwitch(name: string): Promise<SwitchPreview>;
  /** Sets the title. */
  rename(title: string): Promise<void>;

  /** The MCP servers of the agent and their state. Connects to none. */
  mcpServers(): Promise<readonly McpServerView[]>;
  /**
   * Connects a server again, or all that are not connected. Resolves to the state of all servers when they have answered
   * or failed.
   */
  reconnectMcp(server?: string): Promise<readonly McpServerView[]>;
  /** The prompts that the connected MCP servers offer. Waits until all have answered or failed, 10 seconds at most. */
  mcpPrompts(): Promise<readonly McpPrompt[]>;
  /** Returns the messages of a prompt. Sends nothing to the model. */
  mcpPrompt(
    server: string,
    name: string,
    given?: Readonly<Record<string, string>>,
  ): Promise<readonly McpPromptMessage[]>;

  /** Creates a new session with a copy of the active path. */
  fork(options?: ForkOptions): Promise<SessionHandle>;
  /** Undoes the last message and everything after it. The log keeps them. */
  undo(): Promise<void>;
  /** Drops everything before the last `count` turns from later requests. The log keeps it. */
  keepLastTurns(count: number): Promise<void>;
  /** Drops the event `seq` and everything after it from later requests. The log keeps it. */
  truncateFrom(seq: number): Promise<void>;
  /** Switches to another branch: the path as it was at the end of the turn that event `to` belongs to. */
  checkout(options: { readonly to: number }): Promise<void>;
  /** Replaces all but the last turns with a summary in later requests. The log keeps them. */
  compact(options?: CompactOptions): Promise<void>;

  /** The history, without live events. */
  events(options?: EventsOptions): AsyncIterable<LoggedEvent>;
  /** The history, then the open items, then live events, even those of another process. */
  follow(options?: FollowOptions): AsyncIterable<SessionEvent>;
  /** Bytes stored next to the log, by the name that an event gives them. */
  blob(name: string): Promise<Uint8Array | undefined>;
  /** Returns the exact next request without sending it. */
  preview(options?: { readonly model?: string | undefined }): Promise<RequestPreview>;
  /** Returns what becomes of each event in a request, and why. Default: the next request. */
  explain(options?: ExplainOptions): Promise<readonly Decision[]>;
  /** Rebuilds the nth request, counted from 1, from the log and compares its hash with the recorded one. */
  rebuild(request: number): Promise<RebuiltRequest>;

  /** Releases the session. A local session cancels its turn first; a remote one leaves it running. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
