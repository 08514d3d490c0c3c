/**
 * The session as its user meets it: plain objects, async iterables, AbortSignal.
 *
 * @module
 */

import type {
  ErrorInfo,
  InputPart,
  LoggedEvent,
  ReplayPolicy,
  SessionEvent,
  TurnStatus,
  Usage,
} from "../events/index.ts";
import type { Decision } from "../fold/index.ts";
import type { Store } from "../log/index.ts";
import type { Model } from "../providers/index.ts";
import type { Clock, JsonObject } from "../support/index.ts";
import type { StandardSchema, Tool } from "../tools/index.ts";
import type { PermissionPolicy, TurnLimits, WireRecord } from "../turn/index.ts";

export interface AgentOptions {
  readonly model: Model;
  readonly tools?: readonly Tool[];
  readonly system?: string;
  /** Default "read-only". "ask" waits for `approve` or `deny`; with `canAsk: false` it is a denial that says so. */
  readonly permissions?: PermissionPolicy;
  readonly canAsk?: boolean;
  readonly replay?: { readonly reasoning?: ReplayPolicy };
  readonly limits?: Partial<TurnLimits>;
  /** Sees every request and every byte of its answer, exactly. */
  readonly trace?: (record: WireRecord) => void;
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
  /** Recorded at the start of a session: `-c` looks for it. */
  readonly cwd?: string;
  /** Further values that must never reach the log; the models' keys are known already. */
  readonly secrets?: readonly string[];
}

export interface OpenSessionOptions {
  readonly id?: string;
  /** Default: memory, gone with the agent. */
  readonly store?: Store;
  readonly mode?: "write" | "read";
}

export interface Agent {
  open(options?: OpenSessionOptions): Promise<Session>;
  sessions(store?: Store): AsyncIterable<SessionSummary>;
}

export interface SessionSummary {
  readonly id: string;
  readonly modifiedAt: number;
  readonly bytes: number;
  readonly title?: string;
  readonly cwd?: string;
  /** Why it cannot be read, if it cannot. */
  readonly problem?: string;
}

export type Input = string | readonly InputPart[];

/** A Standard Schema or a plain JSON Schema. */
export type OutputSchema = StandardSchema | JsonObject;

export interface SendOptions {
  readonly signal?: AbortSignal;
  /** For this turn only. */
  readonly model?: Model;
  readonly effort?: string;
  /** The answer must be JSON that fits; `result().output` is the value. */
  readonly output?: OutputSchema;
  readonly whenBusy?: "queue" | "reject";
}

export interface TurnResult {
  readonly status: TurnStatus;
  readonly text: string;
  readonly output?: unknown;
  readonly usage: Usage;
  readonly steps: number;
  /** For `incomplete`: which limit. */
  readonly reason?: string;
  readonly error?: ErrorInfo;
}

export interface Turn extends AsyncIterable<SessionEvent> {
  /** Never rejects for what a provider or a tool did. */
  result(): Promise<TurnResult>;
  /** The answer; rejects unless the turn completed. */
  text(): Promise<string>;
  cancel(): void;
}

export interface RequestPreview {
  /** The exact body. */
  readonly body: string;
  readonly bodyHash: string;
  readonly items: readonly PreviewItem[];
  readonly decisions: readonly Decision[];
  /** What the numbered rules object to; empty when the request is sound. */
  readonly violations: readonly { readonly rule: string; readonly index: number; readonly message: string }[];
}

export interface PreviewItem {
  readonly type: string;
  readonly role?: string;
  readonly bytes: number;
  readonly head: string;
}

export interface SwitchPreview {
  /** Reasoning that the other model will get. */
  readonly kept: number;
  /** Reasoning that will not travel, by reason. It stays in the log, for the model that made it. */
  readonly left: number;
  readonly reasons: Readonly<Record<string, number>>;
}

export interface ExplainOptions {
  /** The nth request of the session, from 1; default: the next one. */
  readonly request?: number;
}

export interface Session {
  readonly id: string;
  readonly model: Model;
  readonly usage: Usage;
  readonly title: string | undefined;
  /** Where the log is. */
  readonly place: string;
  /** A turn was interrupted: `resume` finishes it, `send` closes it. */
  readonly interrupted: boolean;
  send(input: Input, options?: SendOptions): Turn;
  resume(options?: Pick<SendOptions, "signal">): Turn;
  retry(options?: Pick<SendOptions, "signal">): Turn;
  edit(seq: number, input: Input, options?: Pick<SendOptions, "signal">): Turn;
  approve(requestId: string): void;
  deny(requestId: string, reason?: string): void;
  setModel(model: Model): Promise<void>;
  previewSwitch(model: Model): Promise<SwitchPreview>;
  fork(options?: { readonly at?: number; readonly id?: string }): Promise<Session>;
  truncate(cut: { readonly keepTurns: number } | { readonly from: number }): Promise<void>;
  events(options?: { readonly after?: number; readonly path?: "active" | "all" }): AsyncIterable<LoggedEvent>;
  follow(options?: { readonly after?: number; readonly signal?: AbortSignal }): AsyncIterable<SessionEvent>;
  preview(options?: { readonly model?: Model }): Promise<RequestPreview>;
  explain(options?: ExplainOptions): Promise<readonly Decision[]>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
