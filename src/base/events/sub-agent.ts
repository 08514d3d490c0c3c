/** How the log of a sub-agent and the log of its caller refer to each other. */

import type { Usage } from "./usage.ts";

/** Where a session came from: the event it was forked at or, with `call`, the call whose sub-agent it is. */
export interface SessionParent {
  readonly session: string;
  readonly seq: number;
  /** The provider's id of the call. Only a sub-agent has it; a sub-agent's log starts empty. */
  readonly call?: string | undefined;
  /** How many callers are above a sub-agent. Its first caller counts as 1. */
  readonly depth?: number | undefined;
}

/** What a sub-agent has used when its call ends, its own sub-agents included. */
export interface SubAgentSpent {
  readonly session: string;
  readonly usage: Usage;
  /** Absent if a price is not known. */
  readonly costUsd?: number | undefined;
}
