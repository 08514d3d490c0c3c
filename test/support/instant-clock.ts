/**
 * A clock on which waiting costs nothing: time advances a little with every reading, and `sleep` jumps.
 *
 * @module
 */

import type { Clock } from "../../src/index.ts";

export function instantClock(startMs = Date.UTC(2026, 0, 1)): Clock {
  let now = startMs;
  return {
    now: () => (now += 1),
    monotonic: () => (now += 1),
    async sleep(ms, signal) {
      if (signal?.aborted === true) throw signal.reason;
      now += ms;
    },
  };
}
