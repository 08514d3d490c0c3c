/**
 * Time comes in as an argument, so that tests own it. `now` is wall time for stamps, `monotonic` for durations:
 * a wall clock set back by hours must not make a thought last a negative time.
 *
 * @module
 */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds on a clock that never goes back. */
  monotonic(): number;
  /** Resolves after `ms`, rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", onAbort, { once: true });
    }),
};

let lastMs = Number.NaN;
let lastTime = "";

/** Asked several times for one moment: the events of a step are stamped together. */
export function isoTime(ms: number): string {
  if (ms !== lastMs) {
    lastTime = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastTime;
}
