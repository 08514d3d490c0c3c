/**
 * The pieces of a stream as they arrive. Node's own iterator over a stream costs more per piece than reading it does; this
 * one takes `data` as it comes and holds the stream back when nobody reads.
 *
 * @module
 */

import type { Readable } from "node:stream";

/** Beyond this the stream is paused until it was read. */
const HELD_BYTES = 1024 * 1024;

export function readChunks(stream: Readable): AsyncIterableIterator<Uint8Array> {
  return new ChunkReader(stream);
}

class ChunkReader implements AsyncIterableIterator<Uint8Array> {
  readonly #stream: Readable;
  #queue: Uint8Array[] = [];
  #at = 0;
  #held = 0;
  #over = false;
  #error: unknown;
  #waiting: (() => void)[] = [];

  constructor(stream: Readable) {
    this.#stream = stream;
    stream.on("data", (chunk: Uint8Array) => {
      this.#queue.push(chunk);
      this.#held += chunk.length;
      if (this.#held > HELD_BYTES) stream.pause();
      this.#wake();
    });
    stream.on("end", () => this.#end(undefined));
    stream.on("error", (error) => this.#end(error));
    stream.on("close", () => {
      // Neither an end nor an error came before: what was sent is not whole.
      if (!this.#over) this.#end(new Error("the stream was closed before its end"));
    });
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const chunk = this.#queue[this.#at];
    if (chunk === undefined) return this.#further();
    this.#at += 1;
    if (this.#at === this.#queue.length) {
      this.#queue = [];
      this.#at = 0;
    }
    this.#held -= chunk.length;
    if (this.#held <= HELD_BYTES && this.#stream.isPaused()) this.#stream.resume();
    return Promise.resolve({ value: chunk, done: false });
  }

  /** Left early: the rest is not wanted. */
  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#queue = [];
    this.#at = 0;
    if (!this.#over) this.#stream.destroy();
    this.#end(undefined);
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #further(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#queue.length === 0) {
      if (this.#over) {
        const error = this.#error;
        this.#error = undefined;
        if (error !== undefined) throw error;
        return { value: undefined, done: true };
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    return this.next();
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
