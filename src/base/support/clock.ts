/**
 * Time is passed in as an argument, so that tests control it. `now` is wall time for timestamps, `monotonic` is for
 * durations: a wall clock set back by hours must not make a thought last a negative time.
 */

import { onAbort } from "./on-abort.ts";

/** A source of time. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds on a clock that never goes back. */
  monotonic(): number;
  /** Resolves after `ms`, or rejects with the signal's reason when it aborts. */
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
      const timer = setTimeout(() => {
        forget?.();
        resolve();
      }, ms);
      const forget =
        signal &&
        onAbort(signal, () => {
          clearTimeout(timer);
          reject(signal.reason as Error);
        });
    }),
};

let lastSecond = Number.NaN;
let lastText = "";

const FIRST_MS = -62_167_219_200_000; // the year 0; Date.UTC would read it as 1900
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Every event has a timestamp, and most fall in the same second as the one before, so only the milliseconds are
 * formatted again. An invalid clock must not cost an event: the nearest time with a four-digit year is used.
 */
export function isoTime(ms: number): string {
  const whole = Math.trunc(Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, FIRST_MS), LAST_MS));
  const second = Math.floor(whole / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, -4);
    lastSecond = second;
  }
  return `${lastText}${String(whole - second * 1000).padStart(3, "0")}Z`;
}

/** The milliseconds since 1970 of a timestamp; NaN if it is none. */
export function isoMs(time: string): number {
  return Date.parse(time);
}
