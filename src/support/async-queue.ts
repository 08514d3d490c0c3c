/**
 * A list of batches that any number of readers walk at their own pace, live or after the end.
 * A slow or absent reader never blocks the writer; what nobody can reach any more is collected.
 *
 * @module
 */

interface Node<T> {
  readonly batch: readonly T[];
  next: Node<T> | undefined;
}

export class Broadcast<T> implements AsyncIterable<T> {
  #head: Node<T> = { batch: [], next: undefined };
  #tail: Node<T> = this.#head;
  readonly #keepAll: boolean;
  #ended = false;
  #waiting: (() => void)[] = [];

  /** `keepAll`: a later reader still sees everything from the start; otherwise only what comes. */
  constructor(options: { readonly keepAll: boolean }) {
    this.#keepAll = options.keepAll;
  }

  push(batch: readonly T[]): void {
    if (this.#ended || batch.length === 0) return;
    const node: Node<T> = { batch, next: undefined };
    this.#tail.next = node;
    this.#tail = node;
    if (!this.#keepAll) this.#head = node;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Walks everything that is kept, from the start. */
  [Symbol.asyncIterator](): AsyncIterator<T> {
    return this.#walk(this.#head);
  }

  /** Walks what comes from now on; starts listening at the call, not at the first `next`. */
  fromNow(signal?: AbortSignal): AsyncIterableIterator<T> {
    return this.#walk(this.#tail, signal);
  }

  async *#walk(start: Node<T>, signal?: AbortSignal): AsyncGenerator<T> {
    let node = start;
    const wake = (): void => this.#wake();
    signal?.addEventListener("abort", wake, { once: true });
    try {
      const stopped = (): boolean => signal?.aborted === true;
      while (!stopped()) {
        if (node.next !== undefined) {
          node = node.next;
          yield* node.batch;
        } else if (this.#ended) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#waiting.push(resolve);
          });
        }
      }
    } finally {
      signal?.removeEventListener("abort", wake);
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
