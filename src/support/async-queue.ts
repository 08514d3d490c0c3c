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
    this.wake();
  }

  end(): void {
    this.#ended = true;
    this.wake();
  }

  /** Walks everything that is kept, from the start. */
  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return new Walk(this.#head, this, undefined);
  }

  /** Walks what comes from now on; starts listening at the call, not at the first `next`. */
  fromNow(signal?: AbortSignal): AsyncIterableIterator<T> {
    return new Walk(this.#tail, this, signal);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves when something was added, or when everybody is to look again. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** By hand and not as an async generator, which would wait several times over for each of 20,000 events that are there. */
class Walk<T> implements AsyncIterableIterator<T> {
  readonly #list: Broadcast<T>;
  readonly #signal: AbortSignal | undefined;
  readonly #wake = (): void => this.#list.wake();
  #node: Node<T>;
  #at: number;
  #left = false;

  constructor(start: Node<T>, list: Broadcast<T>, signal: AbortSignal | undefined) {
    this.#node = start;
    this.#at = start.batch.length; // what stands in the first node was there before
    this.#list = list;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#wake, { once: true });
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const { batch } = this.#node;
    if (this.#at >= batch.length || this.#stopped) return this.#further();
    const value = batch[this.#at] as T;
    this.#at += 1;
    return Promise.resolve({ value, done: false });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#left = true;
    this.#signal?.removeEventListener("abort", this.#wake);
    this.#wake();
    return Promise.resolve(OVER);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get #stopped(): boolean {
    return this.#left || this.#signal?.aborted === true;
  }

  async #further(): Promise<IteratorResult<T, undefined>> {
    while (!this.#stopped) {
      if (this.#at < this.#node.batch.length) return this.next();
      if (this.#node.next !== undefined) {
        this.#node = this.#node.next;
        this.#at = 0;
      } else if (this.#list.ended) {
        break;
      } else {
        await this.#list.changed();
      }
    }
    return this.return();
  }
}

const OVER = { value: undefined, done: true } as const;
