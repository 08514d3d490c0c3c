/**
 * What a turn works with. Everything outside comes in here, so that the loop can be read and tested alone.
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
  /** USD. A turn that has cost this much makes no further request; every model it uses must have a price. */
  readonly maxCostUsd?: number;
  /** The same call with the same arguments this often in a row ends the turn. */
  readonly maxRepeats: number;
  readonly maxRetries: number;
  readonly toolTimeoutMs: number;
  /** How long a tool that ignores the signal is waited for. */
  readonly toolGraceMs: number;
  /** Until there is a connection. */
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** A turn takes no longer than this; waiting for a person does not count. */
  readonly turnTimeoutMs: number;
  /** What the model takes, where the table of models does not say or says it wrongly. */
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

/** What one step is sent with: read anew before each, because settings take effect at the next step. */
export interface StepSetup {
  readonly model: Model;
  readonly renderer: Renderer;
  readonly settings: Settings;
}

/** Built in one place: session/turn-contexts.ts. */
export interface TurnContext {
  readonly turn: string;
  /** Set for a turn of the runtime's own: its requests say so. */
  readonly purpose?: Purpose | undefined;
  /** From this share of the context on, a turn that would go on ends `incomplete: context`. Absent: never of itself. */
  readonly compactAt?: number | undefined;
  /** It goes on with calls of a turn that a crash interrupted. */
  readonly resumed?: boolean | undefined;
  /** Absent: it may take as long as it takes. */
  readonly deadline?: TurnDeadline | undefined;
  /** The deadline's, or that of whoever began the turn. */
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
  /** Replaces secret values this process has loaded. */
  redact(text: string): string;
  /** For jitter; a number from 0 to 1. */
  random(): number;
}

export interface PersonsAnswer extends PermissionDecision {
  /** Called when the log has it, or with what the log had against it: whoever answered is told only then. */
  recorded(error?: unknown): void;
}

export interface Permissions {
  readonly policy: PermissionPolicy;
  /** Somebody can answer an "ask"; otherwise it is a denial that says so. */
  readonly interactive: boolean;
  /** Waits for a person; rejects when the turn is aborted. */
  ask(ask: PermissionAsk): Promise<PersonsAnswer>;
}

/** What goes over the wire and comes back, exactly: for traces and recordings. */
export type WireRecord =
  | { readonly type: "request"; readonly response: string; readonly body: readonly Uint8Array[] }
  | { readonly type: "bytes"; readonly response: string; readonly bytes: Uint8Array };

/** What the log tells of the turn so far; a turn that has not begun has no facts yet. */
export function factsOfTurn({ live, turn }: TurnContext): TurnFacts {
  return live.facts.turns.get(turn) ?? new TurnFacts(turn, live.facts.lastSeq + 1);
}
