/**
 * How often a stream brought something nobody knows, by name. The names come from outside: a plain object would take some
 * of them ("constructor") for its own.
 */

export class UnknownCounts {
  readonly #counts = new Map<string, number>();

  add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** A field of the stream's end, or nothing. */
  asField(): { readonly unknown?: Readonly<Record<string, number>> } {
    return this.#counts.size === 0 ? {} : { unknown: Object.fromEntries(this.#counts) };
  }
}
