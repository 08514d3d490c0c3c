/**
 * Finds the known name that a mistyped word most likely means, for messages such as `unknown option "maxStep"; did you
 * mean "maxSteps"?`. Only a close name is suggested: a wrong suggestion is worse than none.
 */

/** Words longer than this are never a slip of the fingers, and comparing them costs time. */
const MAX_LENGTH = 100;

/**
 * Returns the known name closest to the word, or undefined if none is close. Case, `-`, `_`, `.` and spaces do not
 * count; a missing, extra, wrong or swapped letter counts one. Up to a third of the letters may differ.
 */
export function closestTo(word: string, known: Iterable<string>): string | undefined {
  const typed = plain(word);
  if (typed === "" || typed.length > MAX_LENGTH) return undefined;
  let closest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const letters = plain(name);
    if (letters.length > MAX_LENGTH) continue;
    const allowed = Math.max(1, Math.floor(Math.max(typed.length, letters.length) / 3));
    const missing = Math.abs(typed.length - letters.length);
    if (missing > allowed) continue;
    const steps = distance(typed, letters);
    // Two words of one letter have nothing in common after one change.
    if (steps > allowed || steps >= Math.min(typed.length, letters.length)) continue;
    // Of equally close names, the one with as many letters: "modle" is "model" rather than "mode".
    const far = steps + missing / MAX_LENGTH;
    if (far >= least) continue;
    closest = name;
    least = far;
  }
  return closest;
}

/** `; did you mean "NAME"?` for a close name, else an empty text: the end of a message about an unknown word. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const closest = closestTo(word, known);
  return closest === undefined ? "" : `; did you mean "${closest}"?`;
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_.\s]/g, "");
}

/** The optimal string alignment distance: how many letters to insert, remove, replace or swap with the next one. */
function distance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let steps = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) steps = Math.min(steps, at(beforeLast, column - 2) + 1);
      current.push(steps);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
