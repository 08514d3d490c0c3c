/** A turn in its caller's hands, and what came of it. */

import type { ErrorInfo, SessionEvent, TurnStatus, Usage } from "../events/index.ts";

/** `Output`: the value of an answer that was asked for by a schema. */
export interface TurnResult<Output = unknown> {
  readonly status: TurnStatus;
  readonly text: string;
  readonly output?: Output | undefined;
  readonly usage: Usage;
  readonly steps: number;
  /** For `incomplete`: which limit. */
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
}

/** Leaving its loop early, iterating twice or not at all changes nothing about the turn. */
export interface Turn<Output = unknown> extends AsyncIterable<SessionEvent> {
  readonly id: string;
  /** Never rejects for what a provider or a tool did. */
  result(): Promise<TurnResult<Output>>;
  /** The answer; rejects unless the turn completed. */
  text(): Promise<string>;
  cancel(): void;
}
