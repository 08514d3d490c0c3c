/**
 * A turn in its caller's hands, and what came of it.
 *
 * @module
 */

import type { ErrorInfo, SessionEvent, TurnStatus, Usage } from "../events/index.ts";

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

/** Leaving its loop early, iterating twice or not at all changes nothing about the turn. */
export interface Turn extends AsyncIterable<SessionEvent> {
  readonly id: string;
  /** Never rejects for what a provider or a tool did. */
  result(): Promise<TurnResult>;
  /** The answer; rejects unless the turn completed. */
  text(): Promise<string>;
  cancel(): void;
}
