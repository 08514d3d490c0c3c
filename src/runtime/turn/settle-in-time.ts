/**
 * Runs work that may never end. A timeout or an abort is passed on by signal. Work that ignores it gets a grace period
 * and is then abandoned, and its late end is reported.
 */

import { messageOf, onAbort } from "../../base/support/index.ts";

export type Settlement =
  | { readonly how: "returned"; readonly value: unknown }
  | { readonly how: "threw"; readonly error: unknown }
  | { readonly how: "timed_out" | "aborted"; readonly stopped: boolean };

export interface SettleOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly onLate: (what: string) => void;
}

export function settleInTime(
  run: (signal: AbortSignal) => unknown,
  { signal, timeoutMs, graceMs, onLate }: SettleOptions,
): Promise<Settlement> {
  return new Promise((resolve) => {
    const controller = new AbortController();
    let ending: "timed_out" | "aborted" | undefined;
    let settled = false;
    let grace: NodeJS.Timeout | undefined;
    const finish = (outcome: Settlement): void => {
      if (settled) {
        if (outcome.how === "returned") onLate("it succeeded");
        else if (outcome.how === "threw") onLate(`it failed: ${messageOf(outcome.error)}`);
        return;
      }
      settled = true;
      clearTimeout(timer);
      clearTimeout(grace);
      forget();
      resolve(outcome);
    };
    const stop = (how: "timed_out" | "aborted"): void => {
      if (ending !== undefined || settled) return;
      ending = how;
      grace = setTimeout(() => finish({ how, stopped: false }), graceMs);
      controller.abort(new Error(how === "aborted" ? "the turn was stopped" : "the tool ran out of time"));
    };
    const timer = setTimeout(() => stop("timed_out"), timeoutMs);
    const forget = onAbort(signal, () => stop("aborted"));
    // Deferred by a promise, so that a synchronous throw is a result like any other. Work stopped before it began never
    // runs.
    Promise.resolve()
      .then(() => (controller.signal.aborted ? undefined : run(controller.signal)))
      .then(
        (value) =>
          finish(
            ending === undefined || settled ? { how: "returned", value } : { how: ending, stopped: true },
          ),
        (error: unknown) =>
          finish(ending === undefined || settled ? { how: "threw", error } : { how: ending, stopped: true }),
      );
    if (signal.aborted) stop("aborted");
  });
}
