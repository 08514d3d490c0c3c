/** How long a turn has worked, as this interface saw it, without the waits for a person. */

export class TurnClock {
  readonly #now: () => number;
  #since: number | undefined;
  /** When the open question was first seen. */
  #askedSince: number | undefined;
  /** How long earlier questions of the turn were open. */
  #waitedMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  start(): void {
    this.stop();
    this.#since = this.#now();
  }

  stop(): void {
    this.#since = undefined;
    this.#askedSince = undefined;
    this.#waitedMs = 0;
  }

  /** Called when a question may have been asked or answered. */
  asks(open: boolean): void {
    const now = this.#now();
    if (open) this.#askedSince ??= now;
    else if (this.#askedSince !== undefined) {
      this.#waitedMs += now - this.#askedSince;
      this.#askedSince = undefined;
    }
  }

  /** In milliseconds. Starts the clock if it does not run. */
  get workedMs(): number {
    const now = this.#now();
    this.#since ??= now;
    return Math.max(0, (this.#askedSince ?? now) - this.#since - this.#waitedMs);
  }

  /** How long the open question has waited, in milliseconds. */
  get askedMs(): number | undefined {
    return this.#askedSince === undefined ? undefined : this.#now() - this.#askedSince;
  }
}
