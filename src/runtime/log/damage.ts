/**
 * What is said of a damaged log, and what to do about it: by the name the person knows it under, and only what can be
 * done. Facts come as fields; whoever knows a better name makes the sentence anew.
 */

import { isThroughlineError, ThroughlineError } from "../../base/support/index.ts";

export interface LogDamage {
  /** Counted from 1. */
  readonly line: number;
  readonly byte: number;
  readonly problem: string;
  /** At least one line is whole, so that `repair` has something to save; taken to be so until somebody has looked. */
  readonly salvageable: boolean;
}

/** The facts of a `log_damaged` error; undefined for any other. */
export function damageOf(error: unknown): LogDamage | undefined {
  if (!isThroughlineError(error) || error.code !== "log_damaged") return undefined;
  const { line, byte, problem, salvageable } = error.details;
  if (typeof line !== "number" || typeof byte !== "number" || typeof problem !== "string") return undefined;
  return { line, byte, problem, salvageable: salvageable !== false };
}

/** `name` is what `repair` takes: an id, or a path. */
export function damagedLog(damage: LogDamage, name: string, cause?: unknown): ThroughlineError {
  const { line, byte, problem, salvageable } = damage;
  const remedy = salvageable
    ? `restore the file from a copy, or save what is whole: throughline repair ${name}`
    : "not one line of it is whole, so that nothing can be saved: restore the file from a copy, or remove it";
  return new ThroughlineError({
    code: "log_damaged",
    message: `the log is damaged at line ${line}, byte ${byte}: ${problem}. Nothing was changed; ${remedy}`,
    details: { ...damage },
    cause,
  });
}
