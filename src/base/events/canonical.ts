/**
 * The canonical events: what the log holds. Each has a `seq`; none is ever changed or removed. Names and shapes are the
 * same in memory, in the file, over the wire to a viewer and in `--json`.
 */

import type { RawJson } from "../support/index.ts";
import type { ElicitationAnswerEvent, ElicitationRequest } from "./elicitation-events.ts";
import type { ErrorInfo } from "./error-info.ts";
import type { Origin } from "./origin.ts";
import type { PermissionDecisionEvent, PermissionRequest, PermissionRuleEvent } from "./permission-events.ts";
import type { Settings } from "./settings.ts";
import type { SessionParent, SubAgentSpent } from "./sub-agent.ts";
import type { Usage } from "./usage.ts";

export interface Envelope {
  readonly v: 1;
  readonly seq: number;
  readonly id: string;
  /** ISO 8601, wall time. */
  readonly at: string;
  /** Which writer wrote it. Never decreases along `seq`. */
  readonly epoch: number;
  readonly turn?: string | undefined;
  readonly response?: string | undefined;
}

/** A part of a user message. `data` is base64; `blob` names bytes next to the log, as the log records large data. */
export type InputPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; readonly data: string }
  | { readonly type: "image"; readonly mediaType: string; readonly blob: string }
  | { readonly type: "image"; readonly url: string }
  | { readonly type: "file"; readonly name: string; readonly mediaType: string; readonly data: string }
  | { readonly type: "file"; readonly name: string; readonly mediaType: string; readonly blob: string };

export interface SessionStart extends Envelope {
  readonly type: "session_start";
  readonly session: string;
  /** The first ancestor: a family of forks shares the prompt cache. */
  readonly root: string;
  readonly parent?: SessionParent | undefined;
  readonly cwd?: string | undefined;
  readonly writer: string;
}

export interface SettingsEvent extends Envelope {
  readonly type: "settings";
  readonly settings: Settings;
}

export interface Title extends Envelope {
  readonly type: "title";
  readonly title: string;
}

export interface UserMessage extends Envelope {
  readonly type: "user_message";
  readonly by: "person" | "runtime";
  readonly content: readonly InputPart[];
  readonly purpose?: Purpose | undefined;
  /** Set if the message joined a running turn: the id under which it was sent. It opens no turn. */
  readonly steer?: string | undefined;
}

/**
 * Set if the runtime itself made the request: its turn is off the conversation's path, and a `branch` leaves it when it
 * ends.
 */
export type Purpose = "compaction";

/** Which item events a request did not carry, by reason, as inclusive ranges of `seq`. */
export interface LeftOut {
  readonly reason: string;
  readonly seqs: readonly (readonly [from: number, to: number])[];
}

export interface ResponseStart extends Envelope {
  readonly type: "response_start";
  readonly response: string;
  readonly step: number;
  readonly attempt: number;
  readonly purpose?: Purpose | undefined;
  readonly origin: Origin;
  /** SHA-256 of the exact request body. */
  readonly bodyHash: string;
  /** SHA-256 of everything before the answer: instructions, tools and input. */
  readonly prefixHash: string;
  readonly leftOut?: readonly LeftOut[] | undefined;
  /** Replaces `leftOut` if it equals that of an earlier response_start; the seq of that event. */
  readonly leftOutAs?: number | undefined;
}

interface ItemEnvelope extends Envelope {
  readonly response: string;
  readonly outputIndex: number;
  readonly itemType: string;
  /** The vendor's id. Payload, not a key: ids repeat and rotate (failures.md I08, I13). */
  readonly itemId?: string | undefined;
  readonly item: RawJson;
}

export interface ReasoningPart {
  readonly kind: "summary" | "text";
  readonly text: string;
}

export interface Reasoning extends ItemEnvelope {
  readonly type: "reasoning";
  /** Whether the item carries a payload that only its maker can read. */
  readonly opaque: boolean;
  readonly parts: readonly ReasoningPart[];
  readonly startedAt: string;
  readonly durationMs: number;
}

export interface AssistantMessage extends ItemEnvelope {
  readonly type: "assistant_message";
  readonly text: string;
  readonly refusal?: string | undefined;
  readonly phase?: string | undefined;
}

export interface ToolCall extends ItemEnvelope {
  readonly type: "tool_call";
  readonly callId: string;
  readonly name: string;
  /** The exact text the model wrote. For a custom tool, its free-form input. */
  readonly arguments: string;
  readonly custom?: true | undefined;
}

/** Run by the provider: web search, code interpreter, MCP … */
export interface HostedItem extends ItemEnvelope {
  readonly type: "hosted_item";
  /** The call id it is the output of: the provider ran that call of the same response too. */
  readonly answers?: string | undefined;
}

/** An item of an unknown type: kept, shown, never sent back (law 8). */
export interface OtherItem extends ItemEnvelope {
  readonly type: "other_item";
}

/** What a person saw of an item that never finished. For people, never sent. */
export interface PartialItem extends Envelope {
  readonly type: "partial";
  readonly response: string;
  readonly outputIndex: number;
  readonly kind: "reasoning" | "text" | "tool_call";
  readonly parts: readonly string[];
  readonly name?: string | undefined;
}

export type ResponseStatus = "completed" | "incomplete" | "failed" | "cancelled" | "cut";

/** An item with a field that only the terminal event delivered (Azure ciphertext): the whole item as received then. */
export interface LateItem {
  readonly outputIndex: number;
  readonly item: RawJson;
}

/** A thought that was sent but that the provider says it did not read (failures.md C10). */
export interface UnreadThought {
  /** Its path in the request. */
  readonly path: string;
  readonly reason: string;
}

/** Where the provider runs the code of an answer (failures.md C17). */
export interface Container {
  readonly id: string;
  /** ISO 8601, in UTC. */
  readonly expiresAt?: string | undefined;
}

/** What the provider removed from a request before the model read it. The log still has it. */
export interface AppliedEdit {
  readonly type: string;
  readonly clearedTokens?: number | undefined;
  readonly clearedThinkingTurns?: number | undefined;
  readonly clearedToolUses?: number | undefined;
}

export interface ResponseEnd extends Envelope {
  readonly type: "response_end";
  readonly response: string;
  readonly status: ResponseStatus;
  /** Why a response is incomplete: `max_output_tokens`, `content_filter` … */
  readonly reason?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly providerResponseId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly servedModel?: string | undefined;
  /** The effective `reasoning.context` the provider reported (failures.md K07). */
  readonly reasoningContext?: string | undefined;
  readonly durationMs: number;
  readonly error?: ErrorInfo | undefined;
  /** Unknown wire events and item types, with their counts (law 8). */
  readonly unknown?: Readonly<Record<string, number>> | undefined;
  readonly late?: readonly LateItem[] | undefined;
  readonly unread?: readonly UnreadThought[] | undefined;
  readonly container?: Container | undefined;
  readonly appliedEdits?: readonly AppliedEdit[] | undefined;
}

export interface ToolStart extends Envelope {
  readonly type: "tool_start";
  readonly response: string;
  readonly callId: string;
  readonly tool: string;
  readonly idempotencyKey: string;
  /** What the tool ran with, if `repairArguments` changed the arguments of the call. */
  readonly arguments?: string | undefined;
}

export type ToolStatus =
  | "ok"
  | "error"
  | "denied"
  | "timeout"
  | "cancelled"
  | "not_executed"
  | "outcome_unknown";

/** An image of a result. Its bytes are a blob next to the log. */
export interface ResultPart {
  readonly type: "image";
  readonly mediaType: string;
  readonly blob: string;
  /** The size of the image. */
  readonly bytes: number;
}

export interface ToolResult extends Envelope {
  readonly type: "tool_result";
  readonly response: string;
  readonly callId: string;
  readonly status: ToolStatus;
  /** What the model reads. */
  readonly text: string;
  /** The full output if `text` is a shortened preview: a blob next to the log. */
  readonly blob?: string | undefined;
  /** What the result has besides its text, for models that accept images. */
  readonly parts?: readonly ResultPart[] | undefined;
  /** Shown to a person and never sent. */
  readonly forPerson?: string | undefined;
  readonly durationMs?: number | undefined;
  /** The sub-agents that the call ran. */
  readonly spent?: readonly SubAgentSpent[] | undefined;
}

/**
 * `translate`: the group is sent as plain meaning, as it would be abroad, because its own text is refused. `omit_ids`:
 * in logs of earlier versions; the same as `omit_reasoning`, because ids are never omitted alone (law 2).
 */
export type OverrideAction = "omit_reasoning" | "omit_ids" | "strip_field" | "close_call" | "translate";

export type OverrideScope =
  | { readonly kind: "group"; readonly response: string }
  | { readonly kind: "all" }
  | { readonly kind: "field"; readonly itemType?: string | undefined; readonly field: string }
  | { readonly kind: "call"; readonly callId: string };

/** A correction for one origin, learnt from its refusal. It keeps later requests clean without another 400. */
export interface ReplayOverride extends Envelope {
  readonly type: "replay_override";
  readonly what: OverrideScope;
  readonly action: OverrideAction;
  readonly target: Origin;
  readonly cause: ErrorInfo;
}

/** The active path becomes the events up to `to`, followed by those after this event. */
export interface Branch extends Envelope {
  readonly type: "branch";
  readonly to: number;
  readonly why: "retry" | "edit" | "undo" | "truncate" | "checkout" | "compaction";
}

/** In requests, the summary replaces everything before `before`. If empty, nothing replaces it. */
export interface Compaction extends Envelope {
  readonly type: "compaction";
  readonly before: number;
  readonly summary: string;
  /**
   * Who wrote the summary: the model, or the runtime from the log because no model could. Absent if there is no
   * summary.
   */
  readonly by?: "model" | "log" | undefined;
}

export interface Notice extends Envelope {
  readonly type: "notice";
  readonly code: string;
  readonly message: string;
  /** The failure it reports: why another model continues (`model_fallback`). */
  readonly error?: ErrorInfo | undefined;
}

/** How a turn ended. */
export type TurnStatus = "completed" | "incomplete" | "failed" | "cancelled" | "interrupted";

export interface TurnEnd extends Envelope {
  readonly type: "turn_end";
  readonly turn: string;
  readonly status: TurnStatus;
  /** For `incomplete`: which limit. */
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly steps: number;
  readonly usage: Usage;
  readonly durationMs: number;
}

export type ItemEvent = Reasoning | AssistantMessage | ToolCall | HostedItem | OtherItem;

/** An event that the log keeps, discriminated by `type`. */
export type CanonicalEvent =
  | SessionStart
  | SettingsEvent
  | Title
  | UserMessage
  | ResponseStart
  | ItemEvent
  | PartialItem
  | ResponseEnd
  | PermissionRequest
  | PermissionDecisionEvent
  | PermissionRuleEvent
  | ToolStart
  | ElicitationRequest
  | ElicitationAnswerEvent
  | ToolResult
  | ReplayOverride
  | Branch
  | Compaction
  | Notice
  | TurnEnd;

/** An event of a later version: kept exactly, shown as unknown, skipped by every fold. */
export interface UnknownEvent extends Envelope {
  readonly type: "unknown";
  readonly unknownType: string;
  /** The whole line without its checksum. */
  readonly raw: RawJson;
}

/** An event of the log: a canonical one, or one that a later version wrote. */
export type LoggedEvent = CanonicalEvent | UnknownEvent;

type Unstamped<T> = T extends CanonicalEvent ? Omit<T, "v" | "seq" | "id" | "at" | "epoch"> : never;

/** An event that the log has not stamped yet. */
export type EventDraft = Unstamped<CanonicalEvent>;

export const CANONICAL_TYPES = [
  "session_start",
  "settings",
  "title",
  "user_message",
  "response_start",
  "reasoning",
  "assistant_message",
  "tool_call",
  "hosted_item",
  "other_item",
  "partial",
  "response_end",
  "permission_request",
  "permission_decision",
  "permission_rule",
  "tool_start",
  "elicitation_request",
  "elicitation_answer",
  "tool_result",
  "replay_override",
  "branch",
  "compaction",
  "notice",
  "turn_end",
] as const satisfies readonly CanonicalEvent["type"][];

export function isItemEvent(event: LoggedEvent): event is ItemEvent {
  return (
    event.type === "reasoning" ||
    event.type === "assistant_message" ||
    event.type === "tool_call" ||
    event.type === "hosted_item" ||
    event.type === "other_item"
  );
}
