/**
 * Draws the end of a long session first and the rest in idle time, a few turns at a time. Returns the first turn to draw.
 */

import { useEffect, useState } from "preact/hooks";

import type { Turn } from "../turn-list.ts";

/** About two screens. */
const FIRST_BLOCKS = 60;
/** Small enough that no task becomes long. */
const MORE_BLOCKS = 40;

export function useOlderTurns(turns: readonly Turn[], wanted: number): number {
  /** How many turns at the end are drawn. Counted from the end: turns arrive there. */
  const [drawn, setDrawn] = useState(0);
  const known = turns.length === 0 ? 0 : Math.max(drawn, enough(turns, turns.length, FIRST_BLOCKS));
  const count = wanted < 0 ? known : Math.max(known, turns.length - wanted);
  const isDone = count >= turns.length;
  useEffect(() => {
    if (isDone) return undefined;
    return whenIdle(() => setDrawn(count + enough(turns, turns.length - count, MORE_BLOCKS)));
  }, [isDone, count]);
  useEffect(() => {
    // A turn that arrives does not push one out at the other end.
    if (isDone && turns.length > drawn) setDrawn(turns.length);
  }, [isDone, turns.length]);
  return Math.max(0, turns.length - count);
}

/** How many turns before `end` make so many blocks. */
function enough(turns: readonly Turn[], end: number, blocks: number): number {
  let count = 0;
  let found = 0;
  while (count < end && found < blocks) {
    found += turns[end - 1 - count]?.blocks.length ?? 0;
    count += 1;
  }
  return count;
}

function whenIdle(work: () => void): () => void {
  if (typeof requestIdleCallback === "function") {
    const id = requestIdleCallback(work, { timeout: 500 });
    return () => cancelIdleCallback(id);
  }
  const id = setTimeout(work, 30);
  return () => clearTimeout(id);
}
