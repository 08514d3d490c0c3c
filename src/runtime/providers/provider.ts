/**
 * The port between a turn and a provider: plan → request, bytes → stream events. Failures are events: `send` never
 * rejects for what a provider or a network did, and its stream ends with exactly one `end`.
 */

import type {
  AppliedEdit,
  AssistantMessage,
  Capabilities,
  Container,
  ErrorInfo,
  HostedItem,
  LateItem,
  LeftOut,
  Origin,
  OtherItem,
  Profile,
  Reasoning,
  ResponseStatus,
  Settings,
  ToolCall,
  UnreadThought,
  Usage,
} from "../../base/events/index.ts";
import type { Plan, PlanEntry } from "../fold/index.ts";
import type { Violation } from "../rules/index.ts";

export type { Violation } from "../rules/index.ts";
import type { HttpTimeouts, SseFrame } from "../wire/index.ts";
import type { Price } from "./price.ts";

type Understood<T> = Omit<T, "v" | "seq" | "id" | "at" | "epoch" | "turn" | "response">;

/** What we understood of a finished item, beside its exact text. */
export type ItemDraft =
  | Omit<Understood<Reasoning>, "startedAt" | "durationMs">
  | Understood<AssistantMessage>
  | Understood<ToolCall>
  | Understood<HostedItem>
  | Understood<OtherItem>;

export type DeltaChannel = "summary" | "reasoning" | "text" | "arguments";

export interface StreamEnd {
  readonly status: ResponseStatus;
  readonly reason?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly late?: readonly LateItem[] | undefined;
  readonly unknown?: Readonly<Record<string, number>> | undefined;
  readonly providerResponseId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly servedModel?: string | undefined;
  readonly reasoningContext?: string | undefined;
  /** Thoughts the provider says it did not read, and why (failures.md C10). */
  readonly unread?: readonly UnreadThought[] | undefined;
  /** Where the provider runs code (failures.md C17). */
  readonly container?: Container | undefined;
  readonly appliedEdits?: readonly AppliedEdit[] | undefined;
}

export type StreamEvent =
  | {
      readonly type: "item_start";
      readonly outputIndex: number;
      readonly kind: "reasoning" | "message" | "tool_call" | "other";
      readonly name?: string | undefined;
      readonly callId?: string | undefined;
      readonly phase?: string | undefined;
      /** A call with free-form input. */
      readonly custom?: true | undefined;
    }
  | {
      readonly type: "delta";
      readonly outputIndex: number;
      readonly channel: DeltaChannel;
      readonly part: number;
      readonly text: string;
    }
  | { readonly type: "item_done"; readonly outputIndex: number; readonly draft: ItemDraft }
  /** Another answer began in the middle of this one (failures.md R13): what came before is dead, indexes begin at 0 again. */
  | { readonly type: "restart" }
  | { readonly type: "end"; readonly end: StreamEnd };

/** Frames or a whole answer → stream events; ends with exactly one `end`. */
export interface StreamDecoder {
  readonly ended: boolean;
  feed(frames: readonly SseFrame[]): readonly StreamEvent[];
  /** A whole response object: the non-streaming form. */
  feedResponse(text: string): readonly StreamEvent[];
  /** The bytes are over. */
  close(): readonly StreamEvent[];
}

/** Where an item of a request came from, so that a refusal that names a place can be traced to the log. */
export interface ItemSource {
  /** As the dialect's errors write it: `input[3]`, `messages.3.content.0`. */
  readonly path: string;
  readonly response?: string | undefined;
  readonly itemId?: string | undefined;
  readonly itemType: string;
  readonly callId?: string | undefined;
}

export interface RenderedRequest {
  /** The exact bytes, in pieces. */
  readonly body: readonly Uint8Array[];
  readonly bodyHash: string;
  readonly prefixHash: string;
  /** The plan's entries as they were rendered: the prefix guard may have left reasoning out. */
  readonly entries: readonly PlanEntry[];
  /** Which item events it does not carry. */
  readonly leftOut: readonly LeftOut[];
  readonly sources: readonly ItemSource[];
  /** What the numbered rules say about it; anything here is a defect of ours, and nothing is sent. */
  readonly violations: readonly Violation[];
  /** What a person should know before it is sent: thinking is off because of a switch (failures.md C02). */
  readonly remarks: readonly Remark[];
}

export interface Remark {
  readonly code: string;
  readonly message: string;
}

export interface RenderContext {
  /** The root session: forks share a prompt cache. */
  readonly cacheKey: string;
  readonly blob: (name: string) => Uint8Array | undefined;
}

/** Keeps what it rendered: a step costs what is new. */
export interface Renderer {
  render(plan: Plan, context: RenderContext): RenderedRequest;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  readonly timeouts: HttpTimeouts;
  readonly fetch?: typeof fetch | undefined;
  /** Sees the bytes that arrive, for traces and recordings. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/** One wire protocol, as everything above it needs it. */
export interface DialectDriver {
  /** Raised when the same plan gives other bytes than before: old hashes are then "of another renderer". */
  readonly rendererVersion: number;
  /** Under the base URL. */
  readonly path: string;
  headers(key: string, settings: ModelSettings): Readonly<Record<string, string>>;
  createRenderer(): Renderer;
  createDecoder(): StreamDecoder;
}

/** The part of the settings that a model decides. */
export interface ModelSettings {
  readonly target: Origin;
  readonly profile: Profile;
  readonly capabilities: Capabilities;
  readonly effort?: string | undefined;
  readonly summary?: string | undefined;
  readonly reasoningContext?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly hosted: Settings["hosted"];
  readonly parameters: Settings["parameters"];
  readonly renderer: number;
}

export interface Model {
  /** `provider/model`, as `-m` takes it. */
  readonly label: string;
  readonly settings: ModelSettings;
  /** What it costs, where that is known. */
  readonly price?: Price | undefined;
  /** Secret values that must never reach a log: keys it has loaded. */
  readonly secrets: () => readonly string[];
  /** The same model with another effort. */
  withEffort(effort: string): Model;
  createRenderer(): Renderer;
  send(body: readonly Uint8Array[], options: SendOptions): AsyncIterable<readonly StreamEvent[]>;
}
