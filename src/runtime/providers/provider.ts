/**
 * The port between a turn and a provider: plan → request, bytes → stream events. Failures are events: `send` never
 * rejects because of a provider or network failure, and its stream ends with exactly one `end`.
 */

import type {
  AppliedEdit,
  AssistantMessage,
  Capabilities,
  Container,
  Effort,
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

/** A finished item as we understood it, together with its exact text. */
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
  /** Thoughts the provider reports as unread, with reasons (failures.md C10). */
  readonly unread?: readonly UnreadThought[] | undefined;
  /** The container in which the provider runs code (failures.md C17). */
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
  /**
   * Another answer began in the middle of this one (failures.md R13): everything before is discarded, and indexes start
   * at 0 again.
   */
  | { readonly type: "restart" }
  | { readonly type: "end"; readonly end: StreamEnd };

/** Frames or a whole response → stream events, ending with exactly one `end`. */
export interface StreamDecoder {
  readonly ended: boolean;
  feed(frames: readonly SseFrame[]): readonly StreamEvent[];
  /** Takes a whole response object, the non-streaming form. */
  feedResponse(text: string): readonly StreamEvent[];
  /** Called when no more bytes will arrive. */
  close(): readonly StreamEvent[];
}

/** The origin of an item in a request, so that a refusal naming a path can be traced to the log. */
export interface ItemSource {
  /** The path as the dialect's errors write it: `input[3]`, `messages.3.content.0`. */
  readonly path: string;
  readonly response?: string | undefined;
  readonly itemId?: string | undefined;
  readonly itemType: string;
  readonly callId?: string | undefined;
}

export interface RenderedRequest {
  /** The exact bytes, in chunks. */
  readonly body: readonly Uint8Array[];
  readonly bodyHash: string;
  readonly prefixHash: string;
  /** The plan's entries as rendered: the prefix guard may have removed reasoning. */
  readonly entries: readonly PlanEntry[];
  /** The item events the request does not carry. */
  readonly leftOut: readonly LeftOut[];
  readonly sources: readonly ItemSource[];
  /** Violations of the numbered rules. Any entry is a defect of ours, and the request is not sent. */
  readonly violations: readonly Violation[];
  /**
   * What a person should know before the request is sent, such as thinking being off after a model switch (failures.md
   * C02).
   */
  readonly remarks: readonly Remark[];
}

export interface Remark {
  readonly code: string;
  readonly message: string;
}

export interface RenderContext {
  /** The root session's id, so that forks share a prompt cache. */
  readonly cacheKey: string;
  readonly blob: (name: string) => Uint8Array | undefined;
}

/** Caches what it has rendered, so that a step costs only what is new. */
export interface Renderer {
  /** Renders the entries of a plan without making a request of them. The next plan begins with the same ones. */
  renderAhead(plan: Plan, context: RenderContext): void;
  render(plan: Plan, context: RenderContext): RenderedRequest;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  readonly timeouts: HttpTimeouts;
  readonly fetch?: typeof fetch | undefined;
  /** Receives the bytes as they arrive, for traces and recordings. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/** One wire protocol, as the code above it sees it. */
export interface DialectDriver {
  /** Increased when the same plan renders to different bytes; older hashes then count as made by another renderer. */
  readonly rendererVersion: number;
  /** Relative to the base URL. */
  readonly path: string;
  headers(key: string, settings: ModelSettings): Readonly<Record<string, string>>;
  createRenderer(): Renderer;
  createDecoder(): StreamDecoder;
}

/** The part of the settings that the model determines. */
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

/**
 * A model on an endpoint, with its settings. Made by `openai`, `anthropic`, `openaiChat`, `emulator` or `modelFrom`.
 */
export interface Model {
  /** `provider/model`, as `-m` accepts it. */
  readonly label: string;
  readonly settings: ModelSettings;
  /** The model's prices, if known. */
  readonly price?: Price | undefined;
  /** Secret values that must never reach a log: the keys loaded so far. */
  readonly secrets: () => readonly string[];
  /** Returns the same model with another effort. */
  withEffort(effort: Effort): Model;
  createRenderer(): Renderer;
  send(body: readonly Uint8Array[], options: SendOptions): AsyncIterable<readonly StreamEvent[]>;
}
