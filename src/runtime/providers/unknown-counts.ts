/**
 * Counts the unknown things a stream brought, by name. A map, because the names come from outside: a plain object
 * already has some of them ("constructor").
 */

export class UnknownCounts {
  readonly #counts = new Map<string, number>();

  add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** Returns a field for the stream's end, or nothing. */
  asField(): { readonly unknown?: Readonly<Record<string, number>> } {
    return this.#counts.size === 0 ? {} : { unknown: Object.fromEntries(this.#counts) };
  }
}
