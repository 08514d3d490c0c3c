/**
 * Runs work that may never end. A timeout or an abort is passed on by signal. Work that ignores it gets a grace period
 * and is then abandoned, and its late end is reported.
 */

import { onAbort } from "../../base/support/index.ts";

export type Settlement =
  | { readonly how: "returned"; readonly value: unknown }
  | { readonly how: "threw"; readonly error: unknown }
  | { readonly how: "timed_out" | "aborted"; readonly stopped: boolean };

export interface SettleOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly graceMs: number;
  /** Gets the end of work that was abandoned. */
  readonly onLate: (late: Settlement) => void;
}

/** Suspends the time limit while `work` waits for a person. */
export type Paused = <T>(work: () => Promise<T>) => Promise<T>;

export function settleInTime(
  run: (signal: AbortSignal, paused: Paused) => unknown,
  { signal, timeoutMs, graceMs, onLate }: SettleOptions,
): Promise<Settlement> {
  return new Promise((resolve) => {
    const controller = new AbortController();
    let ending: "timed_out" | "aborted" | undefined;
    let settled = false;
    let grace: NodeJS.Timeout | undefined;
    const finish = (outcome: Settlement): void => {
      if (settled) {
        if (outcome.how === "returned" || outcome.how === "threw") onLate(outcome);
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
    let leftMs = timeoutMs;
    let since = 0;
    let waiting = 0;
    let timer: NodeJS.Timeout | undefined;
    const count = (): void => {
      since = performance.now();
      timer = setTimeout(() => stop("timed_out"), leftMs);
    };
    const paused: Paused = async (work) => {
      if (waiting === 0) {
        clearTimeout(timer);
        leftMs = Math.max(0, leftMs - (performance.now() - since));
      }
      waiting += 1;
      try {
        return await work();
      } finally {
        waiting -= 1;
        if (waiting === 0 && !settled && ending === undefined) count();
      }
    };
    count();
    const forget = onAbort(signal, () => stop("aborted"));
    // Deferred by a promise, so that a synchronous throw is a result like any other. Work stopped before it began never
    // runs.
    Promise.resolve()
      .then(() => (controller.signal.aborted ? undefined : run(controller.signal, paused)))
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
