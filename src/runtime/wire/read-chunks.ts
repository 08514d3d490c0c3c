/**
 * The chunks of a stream as they arrive. Node's own stream iterator costs more per chunk than reading it; this one
 * takes each `data` event, hands it directly to a waiting reader, and applies backpressure when no one reads.
 */

import type { Readable } from "node:stream";

/** Above this, the stream is paused until the reader catches up. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Observes a reader, so that watching it does not need a second reader around it. */
export interface ChunkWatch {
  /** The reader waits for a chunk that has not arrived. */
  waiting(): void;
  /** A chunk goes to the reader. Returning an error ends the reading. */
  given(bytes: number): unknown;
  /** Nothing is left to watch: the stream has ended, or everything that matters was read. */
  ended(): void;
  /** Returns the error that the reader gets. */
  failed(error: unknown): unknown;
  /** The reader left before the end. */
  left(): void;
}

const UNWATCHED: ChunkWatch = {
  waiting: () => undefined,
  given: () => undefined,
  ended: () => undefined,
  failed: (error) => error,
  left: () => undefined,
};

export interface BodyChunks extends AsyncIterableIterator<Uint8Array> {
  next(): Promise<Result>;
  /** Leaves early: the rest is not wanted. */
  return(): Promise<Result>;
  /**
   * Called when everything that matters was read. The stream gets a moment to end on its own, so that its connection
   * can be reused: the last bytes of a response often follow right away, and a new connection costs a handshake.
   */
  release(): void;
}

/** For the owner of the stream, who may have a reason to end it that the stream does not know. */
export interface StoppableChunks extends BodyChunks {
  /** Rejects a waiting reader now, or the next read later. Unread chunks are dropped. */
  stop(why: unknown): void;
}

type Result = IteratorResult<Uint8Array, undefined>;

/** If the end arrives at all, it arrives promptly. */
const RELEASE_GRACE_MS = 500;

export function readChunks(stream: Readable, watch: ChunkWatch = UNWATCHED): StoppableChunks {
  return new ChunkReader(stream, watch);
}

interface Waiter {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

class ChunkReader implements StoppableChunks {
  readonly #stream: Readable;
  readonly #watch: ChunkWatch;
  #queue: Uint8Array[] = [];
  #at = 0;
  #bufferedBytes = 0;
  /** The stream will deliver nothing more. */
  #over = false;
  /** The reader has learned that, or has left. */
  #closed = false;
  #error: unknown;
  /** Readers of chunks that have not arrived. Mostly there is one: a list for it would grow and shrink with every chunk. */
  #waiting: Waiter | undefined;
  readonly #others: Waiter[] = [];

  constructor(stream: Readable, watch: ChunkWatch) {
    this.#stream = stream;
    this.#watch = watch;
    stream.on("data", (chunk: Uint8Array) => this.#take(chunk));
    stream.on("end", () => this.#end(undefined));
    stream.on("error", (error) => this.#end(error ?? new Error("the stream failed")));
    // A close without an end or an error: the data is incomplete.
    const close = (): void => {
      if (!this.#over) this.#end(new Error("the stream was closed before its end"));
    };
    stream.on("aborted", close);
    stream.on("close", close);
    // A stream that was over before it was read emits nothing more.
    if (stream.readableEnded) this.#end(undefined);
    else if (stream.destroyed) close();
  }

  next(): Promise<Result> {
    const chunk = this.#queue[this.#at];
    if (chunk === undefined) return this.#waitForChunk();
    this.#at += 1;
    if (this.#at === this.#queue.length) {
      this.#queue = [];
      this.#at = 0;
    }
    this.#bufferedBytes -= chunk.length;
    if (this.#bufferedBytes <= MAX_BUFFERED_BYTES && this.#stream.isPaused()) this.#stream.resume();
    const refused = this.#watch.given(chunk.length);
    return refused === undefined
      ? Promise.resolve({ value: chunk, done: false })
      : Promise.reject(this.#fail(refused));
  }

  release(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue = [];
    this.#watch.ended();
    if (this.#over) return;
    this.#stream.resume();
    const timer = setTimeout(() => this.#leave(), RELEASE_GRACE_MS).unref();
    this.#stream.once("close", () => clearTimeout(timer));
  }

  stop(why: unknown): void {
    if (this.#closed) return;
    this.#queue = [];
    this.#at = 0;
    this.#error = why;
    if (this.#over) return;
    this.#stream.destroy();
    this.#end(why);
  }

  return(): Promise<Result> {
    this.#close();
    for (const { resolve } of this.#waiters()) resolve(DONE);
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(chunk: Uint8Array): void {
    // An empty chunk is not a sign of life: it neither reaches the reader nor refreshes a timer.
    if (this.#closed || this.#over || chunk.length === 0) return;
    const waiter = this.#waiting;
    if (waiter === undefined) {
      this.#queue.push(chunk);
      this.#bufferedBytes += chunk.length;
      if (this.#bufferedBytes > MAX_BUFFERED_BYTES) this.#stream.pause();
      return;
    }
    this.#waiting = this.#others.length === 0 ? undefined : this.#others.shift();
    const refused = this.#watch.given(chunk.length);
    if (refused === undefined) waiter.resolve({ value: chunk, done: false });
    else waiter.reject(this.#fail(refused));
  }

  #waitForChunk(): Promise<Result> {
    if (this.#closed) return Promise.resolve(DONE);
    if (this.#over) {
      const error = this.#finish();
      return error === undefined ? Promise.resolve(DONE) : Promise.reject(error);
    }
    this.#watch.waiting();
    return new Promise((resolve, reject) => {
      if (this.#waiting === undefined) this.#waiting = { resolve, reject };
      else this.#others.push({ resolve, reject });
    });
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    for (const { resolve, reject } of this.#waiters()) {
      const failure = this.#closed ? undefined : this.#finish();
      if (failure === undefined) resolve(DONE);
      else reject(failure);
    }
  }

  /** All that wait. None does afterwards. */
  #waiters(): readonly Waiter[] {
    const all = this.#waiting === undefined ? [] : [this.#waiting, ...this.#others.splice(0)];
    this.#waiting = undefined;
    return all;
  }

  /** Reports the end or the error once; later reads just find the stream over. */
  #finish(): unknown {
    if (this.#error !== undefined) return this.#fail(this.#error);
    this.#closed = true;
    this.#watch.ended();
    return undefined;
  }

  #fail(error: unknown): unknown {
    const told = this.#watch.failed(error);
    this.#close();
    return told;
  }

  #close(): void {
    if (!this.#closed && this.#over) this.#watch.ended();
    else if (!this.#closed) this.#leave();
    this.#closed = true;
    this.#over = true;
    this.#queue = [];
    this.#at = 0;
  }

  #leave(): void {
    this.#watch.left();
    this.#stream.destroy();
  }
}

const DONE = { value: undefined, done: true } as const;
