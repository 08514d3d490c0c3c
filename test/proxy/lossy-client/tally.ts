/** Counts by dialect, model and mutation, and examples of everything that went wrong. */

export const COUNTERS = [
  "requests",
  "healed",
  "refused",
  "refused-other",
  "lost",
  "restorable",
  "put-back",
  "twins",
  "missing",
  "wrong",
  "unstable",
] as const;

export type Counter = (typeof COUNTERS)[number];

export interface Failure {
  /** What failed, in a word or two: failures with an equal one are counted together. */
  readonly kind: string;
  /** Where: dialect, model, mutations. */
  readonly where: string;
  /** How to see it again. */
  readonly at: string;
  /** Computed only for the failures that are shown. */
  readonly detail: () => string;
}

const MAX_EXAMPLES = 3;

export class Tally {
  readonly rows = new Map<string, Map<Counter, number>>();
  /** Everything else that is counted. */
  readonly facts = new Map<string, number>();
  /** Counted by kind and place; the first few with their details. */
  readonly failures = new Map<string, { count: number; readonly examples: Failure[] }>();

  /** Adds to each of the rows. */
  count(rows: readonly string[], counter: Counter, by = 1): void {
    if (by === 0) return;
    for (const name of rows) {
      let row = this.rows.get(name);
      if (row === undefined) this.rows.set(name, (row = new Map<Counter, number>()));
      row.set(counter, (row.get(counter) ?? 0) + by);
    }
  }

  fact(what: string, by = 1): void {
    this.facts.set(what, (this.facts.get(what) ?? 0) + by);
  }

  fail(failure: Failure): void {
    this.fact(failure.kind);
    const key = `${failure.kind} | ${failure.where}`;
    const known = this.failures.get(key);
    if (known === undefined) this.failures.set(key, { count: 1, examples: [failure] });
    else {
      known.count += 1;
      if (known.examples.length < MAX_EXAMPLES) known.examples.push(failure);
    }
  }

  get(row: string, counter: Counter): number {
    return this.rows.get(row)?.get(counter) ?? 0;
  }

  merge(other: Tally): void {
    for (const [name, row] of other.rows) for (const [counter, by] of row) this.count([name], counter, by);
    for (const [what, by] of other.facts) this.fact(what, by);
    for (const [key, { count, examples }] of other.failures) {
      const known = this.failures.get(key);
      if (known === undefined) this.failures.set(key, { count, examples: [...examples] });
      else {
        known.count += count;
        known.examples.push(...examples.slice(0, Math.max(0, MAX_EXAMPLES - known.examples.length)));
      }
    }
  }
}
