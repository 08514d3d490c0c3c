/**
 * A list of batches that any number of readers walk at their own pace. A reader sees what arrives after it began. A slow
 * or absent reader never blocks the writer; a batch lives only as long as a reader has yet to reach it.
 */

import { onAbort } from "./on-abort.ts";
import { stayCompiled } from "./stay-compiled.ts";

interface Node<T> {
  batch: readonly T[];
  /** Undefined for the last node only, which is empty: the next batch goes there. */
  next: Node<T> | undefined;
}

const NOTHING: readonly never[] = [];

export class Broadcast<T> {
  #tail: Node<T> = { batch: NOTHING, next: undefined };
  #ended = false;
  /**
   * Readers with nothing to read, notified as soon as there is something. Mostly there is one: a list for it would be
   * allocated again with every batch.
   */
  #first: (() => void) | undefined;
  #others: (() => void)[] = [];

  push(batch: readonly T[]): void {
    if (this.#ended || batch.length === 0) return;
    const filled = this.#tail;
    this.#tail = { batch: NOTHING, next: undefined };
    filled.batch = batch;
    filled.next = this.#tail;
    this.wake();
  }

  end(): void {
    this.#ended = true;
    this.wake();
  }

  /**
   * Walks `before`, then what arrives from now on. Starts listening at the call, not at the first `next`.
   */
  fromNow(signal?: AbortSignal, before: readonly T[] = []): AsyncIterableIterator<T> {
    return new Walk({ batch: before, next: this.#tail }, this, signal);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Calls back when something was added, or when every reader should check again. */
  whenChanged(look: () => void): void {
    if (this.#first === undefined) this.#first = look;
    else this.#others.push(look);
  }

  wake(): void {
    const [first, others] = [this.#first, this.#others];
    if (first === undefined) return;
    this.#first = undefined;
    if (others.length > 0) this.#others = [];
    first();
    for (const look of others) look();
  }
}

type Result<T> = IteratorResult<T, undefined>;

/** Written by hand: an async generator would await several times for each of 20,000 available events. */
class Walk<T> implements AsyncIterableIterator<T> {
  readonly #list: Broadcast<T>;
  readonly #signal: AbortSignal | undefined;
  readonly #wake = (): void => this.#list.wake();
  readonly #forget: (() => void) | undefined;
  readonly #look = (): void => this.#serve();
  #node: Node<T>;
  #at = 0;
  #left = false;
  /** Pending `next` calls. */
  #asked: ((result: Result<T>) => void)[] = [];

  constructor(start: Node<T>, list: Broadcast<T>, signal: AbortSignal | undefined) {
    this.#node = start;
    this.#list = list;
    this.#signal = signal;
    this.#forget = signal && onAbort(signal, this.#wake);
  }

  next(): Promise<Result<T>> {
    const result = this.#asked.length === 0 ? this.#take() : undefined;
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve) => {
      if (this.#asked.push(resolve) === 1) this.#list.whenChanged(this.#look);
    });
  }

  return(): Promise<Result<T>> {
    this.#leave();
    this.#wake();
    return Promise.resolve(OVER);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next event or the end, or undefined if neither is known yet. */
  #take(): Result<T> | undefined {
    while (!this.#left && this.#signal?.aborted !== true) {
      const { batch, next } = this.#node;
      if (this.#at < batch.length) return { value: batch[this.#at++] as T, done: false };
      if (next === undefined && !this.#list.ended) return undefined;
      if (next === undefined) break;
      this.#node = next;
      this.#at = 0;
    }
    this.#leave();
    return OVER;
  }

  #serve(): void {
    while (this.#asked.length > 0) {
      const result = this.#take();
      if (result === undefined) {
        this.#list.whenChanged(this.#look);
        return;
      }
      this.#asked.shift()?.(result);
    }
  }

  #leave(): void {
    this.#left = true;
    this.#forget?.();
  }
}

const OVER = { value: undefined, done: true } as const;

const unread = new Broadcast<unknown>();
stayCompiled(unread, unread.fromNow());
