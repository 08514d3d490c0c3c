/**
 * Everything a turn works with. All dependencies arrive through this context, so the loop can be read and tested alone.
 */

import type {
  Elicitation,
  ElicitationAnswer,
  EventDraft,
  McpToolName,
  Purpose,
  Settings,
} from "../../base/events/index.ts";
import type { Clock, IdSource } from "../../base/support/index.ts";
import { type CostOf, TurnFacts } from "../facts/index.ts";
import type { Store } from "../log/index.ts";
import type { Model, Renderer } from "../providers/index.ts";
import type { PermissionMode, Tool, ToolAccess } from "../tools/index.ts";
import type { LiveLog } from "./live-log.ts";
import type { RepairArguments } from "./repair-arguments.ts";
import type { TurnDeadline } from "./turn-deadline.ts";

/** A call that a permission function decides about. */
export interface PermissionAsk {
  readonly requestId: string;
  readonly callId: string;
  readonly tool: string;
  readonly access: ToolAccess;
  /** The exact JSON text from the model, or what `repairArguments` made of it. */
  readonly arguments: string;
  /** SHA-256 of the tool's name and the arguments, for `approve`. */
  readonly argumentsHash: string;
  /** With "ask": the rule that `approve(…, { forSession: true })` adds. Absent if no rule says exactly that. */
  readonly rule?: string | undefined;
  /** Which tool of which MCP server is called. Absent for any other tool. */
  readonly mcp?: McpToolName | undefined;
  /** The server has changed the tool's description or schema since a person last allowed a call of it. */
  readonly changed?: boolean | undefined;
}

/** The answer to a permission request. */
export interface PermissionDecision {
  readonly decision: "allow" | "deny";
  /** Recorded in the log. The model gets it if the call is denied. */
  readonly reason?: string | undefined;
}

/**
 * What tools may do: a mode, or a function that decides about every call. If the function throws, the call is denied. If
 * it returns anything but a decision, the turn fails (`permission_invalid`) and nothing runs.
 */
export type PermissionPolicy = PermissionMode | ((ask: PermissionAsk) => Promise<PermissionDecision>);

/** The limits of a turn. docs/api.md says what happens at each. */
export interface TurnLimits {
  /** How many steps a turn may have. Default: 50. */
  readonly maxSteps: number;
  /**
   * USD. A turn that has cost this much sends no further request. Every model it uses must have a price. Default: none.
   */
  readonly maxCostUsd?: number;
  /**
   * USD. A session that has cost this much sends no further request. Every model it has used must have a price. What a
   * fork copied does not count: its parent paid for it. Default: none.
   */
  readonly maxSessionCostUsd?: number;
  /** The turn ends when the same calls with the same arguments occur more often than this in a row. Default: 8. */
  readonly maxRepeats: number;
  /** How often a step is sent again after a failure that can pass. Default: 3. */
  readonly maxRetries: number;
  /** The time limit of one call. Default: 10 minutes. */
  readonly toolTimeoutMs: number;
  /** How long to wait for a tool that ignores its abort signal. Default: 5 s. */
  readonly toolGraceMs: number;
  /** The time limit for establishing a connection. Default: 30 s. */
  readonly connectTimeoutMs: number;
  /** How long the first byte of an answer may take. Default: 5 minutes; 15 on xai. */
  readonly firstByteTimeoutMs: number;
  /** How long a stream may be silent. Default: 5 minutes; 15 on xai. */
  readonly idleTimeoutMs: number;
  /** The time limit of a turn. Waiting for a person does not count. Default: 1 hour. */
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
  /** Where sub-agents keep their sessions. If absent, none can run. */
  readonly store?: Store | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly tools: readonly Tool[];
  /**
   * Called once the turn is in the log and before anything is sent: waits for tools that other programs provide. Absent
   * if there are none.
   */
  readonly settle?: (() => Promise<SettledTools>) | undefined;
  readonly repairArguments?: RepairArguments | undefined;
  readonly permissions: Permissions;
  readonly fetch: typeof fetch | undefined;
  readonly onWire: ((record: WireRecord) => void) | undefined;
  /** What a request has cost, at the price of the model that answered it. Undefined if the price is not known. */
  readonly costOf: CostOf;
  setup(): StepSetup;
  /** Changes to the next fallback model for the rest of this turn. Undefined if none is left. */
  fallBack(): Model | undefined;
  /** Takes the messages that were sent to join the running turn, as events of the turn `turn`. */
  readonly join?: ((turn: string) => Promise<readonly EventDraft[]>) | undefined;
  /** Replaces secret values that this process has loaded. */
  redact(text: string): string;
  /** For jitter: a number from 0 to 1. */
  random(): number;
}

/** The tools of a turn, and what changed. */
export interface SettledTools {
  readonly tools: readonly Tool[];
  readonly notices: readonly { readonly code: string; readonly message: string }[];
}

export interface PersonsAnswer extends PermissionDecision {
  /** The rule that the answer adds to the session. */
  readonly rule?: string | undefined;
  /** Called once the log has the decision, or with the log's error. Only then does the answering call resolve. */
  recorded(error?: unknown): void;
}

export interface PersonsElicitationAnswer {
  readonly answer: ElicitationAnswer;
  /** Called once the log has the answer, or with the log's error. Only then does the answering call resolve. */
  recorded(error?: unknown): void;
}

export interface Permissions {
  readonly policy: PermissionPolicy;
  /** Whether the policy is the default, because the agent names none. */
  readonly byDefault: boolean;
  /** Returns the text of a rule that covers the call: one of the agent, or one of this session. */
  ruleFor(tool: Tool, input: unknown): string | undefined;
  /** Whether the tool is no longer the one that a person last allowed. Absent: no tool changes. */
  hasChanged?(tool: Tool): boolean;
  /** Whether a person can answer an "ask". If not, the call is denied with that reason. */
  readonly interactive: boolean;
  /**
   * Waits for a person; rejects when the turn is aborted. `earlier` are the ids of questions about the same call that
   * a crash left open: an answer to one of them counts.
   */
  ask(ask: PermissionAsk, earlier: readonly string[]): Promise<PersonsAnswer>;
  /** Waits for a person's answer to the question of a running tool; rejects when the signal aborts. */
  elicit(requestId: string, request: Elicitation, signal: AbortSignal): Promise<PersonsElicitationAnswer>;
}

/** The exact bytes sent and received, for traces and recordings. */
export type WireRecord =
  | { readonly type: "request"; readonly response: string; readonly body: readonly Uint8Array[] }
  | { readonly type: "bytes"; readonly response: string; readonly bytes: Uint8Array };

/** What the log says about the turn so far. A turn that has not begun has no facts yet. */
export function factsOfTurn({ live, turn }: TurnContext): TurnFacts {
  return live.facts.turns.get(turn) ?? new TurnFacts(turn, live.facts.lastSeq + 1);
}
