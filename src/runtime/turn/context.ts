/**
 * Everything a turn works with. All dependencies arrive through this context, so the loop can be read and tested alone.
 */

import type { Purpose, Settings } from "../../base/events/index.ts";
import type { Clock, IdSource } from "../../base/support/index.ts";
import { TurnFacts } from "../facts/index.ts";
import type { Model, Renderer } from "../providers/index.ts";
import type { PermissionMode, Tool, ToolAccess } from "../tools/index.ts";
import type { LiveLog } from "./live-log.ts";
import type { TurnDeadline } from "./turn-deadline.ts";

export interface PermissionAsk {
  readonly requestId: string;
  readonly callId: string;
  readonly tool: string;
  readonly access: ToolAccess;
  readonly arguments: string;
  readonly argumentsHash: string;
}

export interface PermissionDecision {
  readonly decision: "allow" | "deny";
  readonly reason?: string | undefined;
}

export type PermissionPolicy = PermissionMode | ((ask: PermissionAsk) => Promise<PermissionDecision>);

export interface TurnLimits {
  readonly maxSteps: number;
  /** USD. A turn that has cost this much sends no further request. Every model it uses must have a price. */
  readonly maxCostUsd?: number;
  /** The turn ends when the same calls with the same arguments occur more often than this in a row. */
  readonly maxRepeats: number;
  readonly maxRetries: number;
  readonly toolTimeoutMs: number;
  /** How long to wait for a tool that ignores its abort signal. */
  readonly toolGraceMs: number;
  /** Time limit for establishing a connection. */
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Time limit of a turn. Waiting for a person does not count. */
  readonly turnTimeoutMs: number;
  /** The model's context size, if the table of models lacks it or is wrong. */
  readonly contextTokens?: number;
}

export const DEFAULT_LIMITS: TurnLimits = {
  maxSteps: 50,
  maxRepeats: 8,
  maxRetries: 3,
  toolTimeoutMs: 10 * 60_000,
  toolGraceMs: 5_000,
  connectTimeoutMs: 30_000,
  firstByteTimeoutMs: 300_000,
  idleTimeoutMs: 300_000,
  turnTimeoutMs: 60 * 60_000,
};

/** What one step is sent with. Read before each step, because settings take effect at the next step. */
export interface StepSetup {
  readonly model: Model;
  readonly renderer: Renderer;
  readonly settings: Settings;
}

/** Built only in session/turn-contexts.ts. */
export interface TurnContext {
  readonly turn: string;
  /** Set for a turn that the runtime itself starts; its requests carry it. */
  readonly purpose?: Purpose | undefined;
  /**
   * From this share of the context on, a turn that would continue ends as `incomplete: context`. If absent, it never
   * does.
   */
  readonly compactAt?: number | undefined;
  /** The turn continues calls that a crash interrupted. */
  readonly resumed?: boolean | undefined;
  /** If absent, the turn has no time limit. */
  readonly deadline?: TurnDeadline | undefined;
  /** The deadline's signal, or that of the caller that began the turn. */
  readonly signal: AbortSignal;
  readonly limits: TurnLimits;
  readonly live: LiveLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly tools: readonly Tool[];
  readonly permissions: Permissions;
  readonly fetch: typeof fetch | undefined;
  readonly onWire: ((record: WireRecord) => void) | undefined;
  setup(): StepSetup;
  /** Replaces secret values that this process has loaded. */
  redact(text: string): string;
  /** For jitter: a number from 0 to 1. */
  random(): number;
}

export interface PersonsAnswer extends PermissionDecision {
  /** Called once the log has the decision, or with the log's error. Only then does the answering call resolve. */
  recorded(error?: unknown): void;
}

export interface Permissions {
  readonly policy: PermissionPolicy;
  /** Whether a person can answer an "ask". If not, the call is denied with that reason. */
  readonly interactive: boolean;
  /** Waits for a person; rejects when the turn is aborted. */
  ask(ask: PermissionAsk): Promise<PersonsAnswer>;
}

/** The exact bytes sent and received, for traces and recordings. */
export type WireRecord =
  | { readonly type: "request"; readonly response: string; readonly body: readonly Uint8Array[] }
  | { readonly type: "bytes"; readonly response: string; readonly bytes: Uint8Array };

/** What the log says about the turn so far. A turn that has not begun has no facts yet. */
export function factsOfTurn({ live, turn }: TurnContext): TurnFacts {
  return live.facts.turns.get(turn) ?? new TurnFacts(turn, live.facts.lastSeq + 1);
}
