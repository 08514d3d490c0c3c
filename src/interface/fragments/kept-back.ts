/** The items that the last request kept back, as ranges of seq, found by binary search because a session can have many. */

type Range = readonly [from: number, to: number];

export interface KeptBack {
  has(seq: number): boolean;
  readonly isEmpty: boolean;
}

export const NOTHING_KEPT_BACK: KeptBack = { has: () => false, isEmpty: true };

/** One shared object while nothing is kept back, so that viewers need not redraw. */
export function keptBackBy(ranges: readonly Range[], before: KeptBack): KeptBack {
  if (ranges.length === 0) return before.isEmpty ? before : NOTHING_KEPT_BACK;
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  // Keep the furthest end so far, because ranges in a log that another program wrote may overlap.
  let furthest = -1;
  const ends = sorted.map(([, to]) => (furthest = Math.max(furthest, to)));
  return {
    isEmpty: false,
    has(seq) {
      let low = 0;
      let high = sorted.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((sorted[middle]?.[0] ?? 0) <= seq) low = middle + 1;
        else high = middle;
      }
      return low > 0 && seq <= (ends[low - 1] ?? -1);
    },
  };
}
