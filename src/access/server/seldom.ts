/** Tells of the same problem once a minute at most: a store that is away fails every request, in several words. */

import type { Clock } from "../../base/support/index.ts";

const MINUTE = 60_000;

export function seldom(
  tell: (message: string) => void,
  clock: Clock,
): (code: string, message: string) => void {
  const told = new Map<string, number>();
  return (code, message) => {
    const now = clock.monotonic();
    if (now - (told.get(code) ?? Number.NEGATIVE_INFINITY) < MINUTE) return;
    told.set(code, now);
    tell(message);
  };
}
