/**
 * The clock of worked time: it stands still while a session waits for a person and nothing else runs, between turns, and
 * while an interrupted turn has no process. Times are milliseconds since 1970. Pure.
 */

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Sorted, without overlaps and without empty spans. */
export function union(spans: readonly Span[]): readonly Span[] {
  const made: { from: number; to: number }[] = [];
  for (const { from, to } of spans
    .filter((span) => span.to > span.from)
    .toSorted((a, b) => a.from - b.from)) {
    const last = made.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else made.push({ from, to });
  }
  return made;
}

/** What of the first is in none of the second. Both are unions. */
export function without(spans: readonly Span[], others: readonly Span[]): readonly Span[] {
  const left: Span[] = [];
  let next = 0;
  for (const span of spans) {
    let { from } = span;
    while (next > 0 && (others[next - 1]?.to ?? 0) > from) next -= 1;
    for (; next < others.length && (others[next] as Span).from < span.to; next += 1) {
      const other = others[next] as Span;
      if (other.to <= from) continue;
      if (other.from > from) left.push({ from, to: other.from });
      from = Math.max(from, other.to);
    }
    if (from < span.to) left.push({ from, to: span.to });
  }
  return left;
}

export function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}

export class WorkedClock {
  readonly #whole: Span;
  readonly #idle: readonly Span[];
  /** The idle time before each idle span. */
  readonly #before: readonly number[];

  /** `idle` is a union. */
  constructor(whole: Span, idle: readonly Span[]) {
    this.#whole = whole;
    this.#idle = without([whole], without([whole], idle));
    let sum = 0;
    this.#before = this.#idle.map(({ from, to }) => {
      const before = sum;
      sum += to - from;
      return before;
    });
  }

  get length(): number {
    return this.at(this.#whole.to);
  }

  /** The worked time from the beginning to that moment. */
  at(time: number): number {
    const moment = Math.min(Math.max(time, this.#whole.from), this.#whole.to);
    let low = 0;
    let high = this.#idle.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#idle[middle] as Span).from < moment) low = middle + 1;
      else high = middle;
    }
    const last = this.#idle[low - 1];
    const idle =
      last === undefined ? 0 : (this.#before[low - 1] ?? 0) + Math.min(moment, last.to) - last.from;
    return moment - this.#whole.from - idle;
  }

  /** That span on this clock. */
  span({ from, to }: Span): Span {
    return { from: this.at(from), to: this.at(Math.max(from, to)) };
  }
}
