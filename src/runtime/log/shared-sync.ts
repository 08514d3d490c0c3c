/**
 * A sync that several callers need at once, such as that of a folder in which many logs are new. A sync confirms what was
 * there when it began. So callers that come while one runs share the next one.
 */

export class SharedSync {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when the disk has confirmed everything that was there at the time of the call. */
  confirm(): Promise<void> {
    if (this.#running === undefined) return this.#begin();
    // If it fails, the next one proves nothing either: the kernel may have dropped what both were for.
    this.#next ??= this.#running.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<void> {
    const running = this.#sync();
    const over = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    this.#running = running;
    this.#next = undefined;
    running.then(over, over);
    return running;
  }
}
