/** The ephemeral events: live only, never logged. The log has what they showed as an item or a `partial`. */

import type { LoggedEvent } from "./canonical.ts";
import type { ErrorInfo } from "./error-info.ts";
import type { Usage } from "./usage.ts";

interface Live {
  readonly turn: string;
  readonly response: string;
  readonly outputIndex: number;
}

/** A live event that is not logged, such as a delta. Canonical events repeat the content of deltas. */
export type EphemeralEvent =
  | (Live & { readonly type: "reasoning_start" })
  /** Sent once the title is known, or known to be absent. */
  | (Live & {
      readonly type: "reasoning_part_start";
      readonly part: number;
      readonly kind: "summary" | "text";
      readonly title?: string | undefined;
    })
  | (Live & { readonly type: "reasoning_delta"; readonly part: number; readonly delta: string })
  | (Live & { readonly type: "reasoning_end"; readonly durationMs: number })
  | (Live & { readonly type: "text_start"; readonly phase?: string | undefined })
  | (Live & { readonly type: "text_delta"; readonly delta: string })
  | (Live & { readonly type: "text_end" })
  | (Live & { readonly type: "tool_call_start"; readonly callId?: string | undefined; readonly name: string })
  | (Live & { readonly type: "tool_call_delta"; readonly delta: string })
  | {
      readonly type: "tool_progress";
      readonly turn: string;
      readonly response: string;
      readonly callId: string;
      readonly text: string;
    }
  | {
      readonly type: "retry";
      readonly turn: string;
      readonly response: string;
      readonly attempt: number;
      readonly delayMs: number;
      readonly error: ErrorInfo;
    }
  | {
      readonly type: "usage";
      readonly turn: string;
      readonly response: string;
      readonly usage: Usage;
      readonly context?: ContextUse | undefined;
    }
  /** Everything shown before is void: the log has fewer events than the viewer has seen. The whole log follows. */
  | { readonly type: "reset" };

/** How full the model's context is, according to its last response. */
export interface ContextUse {
  readonly usedTokens: number;
  /** Absent if the model's context size is not known. */
  readonly contextTokens?: number | undefined;
  /** `usedTokens / contextTokens`. Above 1 after a switch to a model with a smaller context. */
  readonly fraction?: number | undefined;
}

/** Everything that a turn or a session yields: logged and live events. */
export type SessionEvent = LoggedEvent | EphemeralEvent;

const EPHEMERAL_TYPES: ReadonlySet<string> = new Set([
  "reasoning_start",
  "reasoning_part_start",
  "reasoning_delta",
  "reasoning_end",
  "text_start",
  "text_delta",
  "text_end",
  "tool_call_start",
  "tool_call_delta",
  "tool_progress",
  "retry",
  "usage",
  "reset",
] satisfies readonly EphemeralEvent["type"][]);

/** Returns whether an event is live only, so that the log does not have it. */
export function isEphemeral(event: SessionEvent): event is EphemeralEvent {
  return EPHEMERAL_TYPES.has(event.type);
}
