/**
 * How much a property test does: a quick form with every `npm test`, a long one with THROUGHLINE_RUNS=n. FC_SEED
 * repeats a run (see fixed-seed.ts); fast-check prints the seed of a failure.
 *
 * @module
 */

export interface RunParameters {
  readonly numRuns: number;
  readonly seed?: number;
  readonly endOnFailure: boolean;
}

const asked = Number(process.env["THROUGHLINE_RUNS"] ?? Number.NaN);
const seed = Number(process.env["FC_SEED"] ?? Number.NaN);

export function runs(quick: number): RunParameters {
  return {
    numRuns: Number.isNaN(asked) ? quick : asked,
    // Shrinking replays the conversation again and again: useful for a developer, too slow for a build.
    endOnFailure: process.env["FC_SHRINK"] !== "1",
    ...(Number.isNaN(seed) ? {} : { seed }),
  };
}

/** The time limit of a test whose `quick` runs get `quickMs`. */
export function timeoutFor(quick: number, quickMs = 240_000): number {
  return Number.isNaN(asked) ? quickMs : Math.max(quickMs, (asked / quick) * quickMs);
}

/** Figures for a reader of the test's output: how much was checked, and which exceptions were allowed. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  get(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  print(title: string): void {
    const lines = [...this.#counts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([what, count]) => `  ${what.padEnd(56)} ${count}`);
    process.stdout.write(`${title}\n${lines.join("\n")}\n`);
  }
}
