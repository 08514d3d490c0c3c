/**
 * The error for a damaged log, with advice that fits. It names the log as the user knows it. The facts are also fields,
 * so a caller that knows a better name can rebuild the message.
 */

import { isThroughlineError, ThroughlineError } from "../../base/support/index.ts";

export interface LogDamage {
  /** Counted from 1. */
  readonly line: number;
  readonly byte: number;
  readonly problem: string;
  /** Whether at least one line is complete, so that `repair` has something to save. Assumed true until checked. */
  readonly salvageable: boolean;
}

/** The facts of a `log_damaged` error, or undefined for any other error. */
export function damageOf(error: unknown): LogDamage | undefined {
  if (!isThroughlineError(error) || error.code !== "log_damaged") return undefined;
  const { line, byte, problem, salvageable } = error.details;
  if (typeof line !== "number" || typeof byte !== "number" || typeof problem !== "string") return undefined;
  return { line, byte, problem, salvageable: salvageable !== false };
}

/** `name` is what `repair` accepts: an id or a path. */
export function damagedLog(damage: LogDamage, name: string, cause?: unknown): ThroughlineError {
  const { line, byte, problem, salvageable } = damage;
  const remedy = salvageable
    ? `Restore the file from a copy, or save the undamaged part: throughline repair ${name}`
    : "No line of it is complete, so nothing can be saved: restore the file from a copy, or remove it";
  return new ThroughlineError({
    code: "log_damaged",
    message: `the log is damaged at line ${line}, byte ${byte}: ${problem}. Nothing was changed. ${remedy}`,
    details: { ...damage },
    cause,
  });
}
