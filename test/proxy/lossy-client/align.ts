/** Which piece of a request that arrived is which piece of the request that was sent. */

import type { Slot } from "./truth.ts";

export interface Alignment {
  /** For each arrived slot the index of the sent one; -1 for a slot that the client did not send. */
  readonly toSent: readonly number[];
  /** Whether everything visible arrived as it was sent, byte for byte. */
  readonly unchanged: boolean;
}

export function align(sent: readonly Slot[], arrived: readonly Slot[]): Alignment {
  const visible = arrived.filter(({ kind }) => kind !== "end");
  const before = sent.filter(({ kind }) => kind !== "end");
  const unchanged =
    visible.length === before.length && visible.every((slot, index) => slot.json === before[index]?.json);
  if (unchanged)
    return { toSent: arrived.map((slot, index) => (slot.kind === "end" ? -1 : index)), unchanged };
  return { toSent: withMoved(byMeaning(sent, arrived), sent, arrived), unchanged };
}

/** A piece that was moved is still the piece that was sent. */
function withMoved(
  toSent: readonly number[],
  sent: readonly Slot[],
  arrived: readonly Slot[],
): readonly number[] {
  const used = new Set(toSent);
  return toSent.map((index, at) => {
    if (index !== -1) return index;
    const mark = arrived[at]?.mark;
    const found = sent.findIndex((slot, place) => slot.mark === mark && !used.has(place));
    if (found !== -1) used.add(found);
    return found;
  });
}

/**
 * The best common subsequence of what the pieces mean: a healed request lost or gained some, or their ids. Of pieces
 * that mean the same, the ones with equal bytes belong together.
 */
function byMeaning(sent: readonly Slot[], arrived: readonly Slot[]): readonly number[] {
  const columns = arrived.length + 1;
  const scores = new Uint16Array((sent.length + 1) * columns);
  const scoreAt = (row: number, column: number): number => scores[row * columns + column] ?? 0;
  const paired = (row: number, column: number): number =>
    likeness(sent[row], arrived[column]) + scoreAt(row + 1, column + 1);
  for (let row = sent.length - 1; row >= 0; row -= 1) {
    for (let column = arrived.length - 1; column >= 0; column -= 1) {
      const alike = likeness(sent[row], arrived[column]) > 0;
      const best = Math.max(
        scoreAt(row + 1, column),
        scoreAt(row, column + 1),
        alike ? paired(row, column) : 0,
      );
      scores[row * columns + column] = best;
    }
  }
  const toSent: number[] = [];
  let row = 0;
  while (toSent.length < arrived.length) {
    const column = toSent.length;
    const alike = row < sent.length && likeness(sent[row], arrived[column]) > 0;
    if (alike && scoreAt(row, column) === paired(row, column)) {
      toSent.push(row);
      row += 1;
    } else if (row < sent.length && scoreAt(row, column) === scoreAt(row + 1, column)) row += 1;
    else toSent.push(-1);
  }
  return toSent;
}

function likeness(one: Slot | undefined, other: Slot | undefined): number {
  if (one?.mark !== other?.mark) return 0;
  return one?.json === other?.json ? 3 : 2;
}
