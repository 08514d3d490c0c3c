/** A turn as its caller sees it, and how it ended. */

import type { ErrorInfo, SessionEvent, TurnStatus, Usage } from "../events/index.ts";
import { asErrorCode, assertNever, ThroughlineError } from "../support/index.ts";

interface TurnTotals {
  /** The answer's text; of a turn that did not complete, what there was of it. */
  readonly text: string;
  readonly usage: Usage;
  readonly steps: number;
}

/** The turn ended with an answer. `output` is the validated value if the turn had an output schema. */
export interface CompletedTurn<Output = unknown> extends TurnTotals {
  readonly status: "completed";
  readonly output: Output;
  readonly reason?: undefined;
  readonly error?: undefined;
}

/** A limit ended the turn. `reason` names the limit. */
export interface IncompleteTurn extends TurnTotals {
  readonly status: "incomplete";
  readonly reason: IncompleteReason;
  readonly error?: ErrorInfo | undefined;
  readonly output?: undefined;
}

/** An error ended the turn. */
export interface FailedTurn extends TurnTotals {
  readonly status: "failed";
  readonly error: ErrorInfo;
  readonly reason?: undefined;
  readonly output?: undefined;
}

/** A person stopped the turn (`cancelled`), or its process or its writer lost the session (`interrupted`). */
export interface StoppedTurn extends TurnTotals {
  readonly status: "cancelled" | "interrupted";
  readonly error?: ErrorInfo | undefined;
  readonly reason?: undefined;
  readonly output?: undefined;
}

/** How a turn ended, discriminated by `status`. */
export type TurnResult<Output = unknown> = CompletedTurn<Output> | IncompleteTurn | FailedTurn | StoppedTurn;

/** The limit that ended an incomplete turn, or a reason that the provider gave. */
export type IncompleteReason =
  | "context"
  | "empty_response"
  | "loop"
  | "max_cost"
  | "max_output_tokens"
  | "max_steps"
  | "time"
  | (string & {});

/** Options of `Turn.toResponse`. */
export interface TurnResponseOptions {
  /** Headers to add or replace, for example those of CORS. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A running turn and its events. Leaving its loop early, iterating it twice or not at all does not affect the turn. */
export interface Turn<Output = unknown> extends AsyncIterable<SessionEvent> {
  readonly id: string;
  /**
   * Resolves when the turn can no longer be lost: the server has promised it, or the local session has accepted it.
   * Rejects if it was refused, or if no server answered. Then nothing is certain but that nobody promised it.
   */
  accepted(): Promise<void>;
  /** Resolves when the turn has ended. Never rejects because of a provider or a tool. */
  result(): Promise<TurnResult<Output>>;
  /** Resolves to the answer's text. Rejects unless the turn completed. */
  text(): Promise<string>;
  /**
   * The text of all answers of the turn as the model writes it: those before its calls too, with a blank line between
   * two. Text that a repeated request repeats comes once. Ends with the turn, however it ends.
   */
  readonly textStream: AsyncIterable<string>;
  /**
   * Returns the turn as a response of server-sent events: every event in the frames of the HTTP API, then `event:
   * result` with the `TurnResult`. A client that disconnects does not stop the turn; pass its signal to `send` for that.
   */
  toResponse(options?: TurnResponseOptions): Response;
  /** Stops the turn. It ends as `cancelled`. */
  cancel(): void;
}

/** The fields of a turn's end as a log or a step has them, before `status` decides which are present. */
export interface TurnEnding extends TurnTotals {
  readonly status: TurnStatus;
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly output?: unknown;
}

/** Builds the discriminated result from the fields of an ending. */
export function turnResult({ status, reason, error, output, text, usage, steps }: TurnEnding): TurnResult {
  const totals = { text, usage, steps };
  switch (status) {
    case "completed":
      return { status, ...totals, output };
    case "incomplete":
      return { status, ...totals, reason: reason ?? "unknown", error };
    case "failed":
      return { status, ...totals, error: error ?? { code: "unknown", message: "the turn failed" } };
    case "cancelled":
    case "interrupted":
      return { status, ...totals, error };
    default:
      return assertNever(status, "turn status");
  }
}

/** How a turn ended that did not complete: the predicate of a sentence about the turn. */
const TURN_ENDINGS = {
  failed: "failed",
  incomplete: "stopped at a limit",
  cancelled: "was cancelled",
  interrupted: "was interrupted",
} as const satisfies Record<Exclude<TurnStatus, "completed">, string>;

/** The reasons that are limits. Any other reason comes from the provider, or says what its answer lacked. */
const LIMITS: ReadonlySet<string> = new Set([
  "context",
  "loop",
  "max_cost",
  "max_output_tokens",
  "max_steps",
  "time",
]);

/** Whether an incomplete turn ended at a limit. Without a reason, it did. */
export function isLimit(reason: string | undefined): boolean {
  return reason === undefined || LIMITS.has(reason);
}

/** How a turn ended that did not complete, as the predicate of a sentence: `the turn ${turnEnding(result)}`. */
export function turnEnding({
  status,
  reason,
}: {
  readonly status: Exclude<TurnStatus, "completed">;
  readonly reason?: string | undefined;
}): string {
  return status === "incomplete" && !isLimit(reason)
    ? "ended without a complete answer"
    : TURN_ENDINGS[status];
}

/** Returns the text of a completed turn and throws for every other. */
export function completedText(result: TurnResult): string {
  if (result.status === "completed") return result.text;
  const { status, error, reason } = result;
  throw new ThroughlineError({
    code: asErrorCode(error?.code, `turn_${status}`),
    message: error?.message ?? `the turn ${turnEnding(result)}${reason === undefined ? "" : `: ${reason}`}`,
    details: { status, reason, error },
  });
}
