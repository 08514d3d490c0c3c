/**
 * Holds what a slow client has not read yet, as bytes in a few large chunks. Thousands of small strings in a socket's
 * own queue, three for each event, take several times their size; with many slow clients that was most of the server's
 * memory.
 */

const CHUNK_BYTES = 64 * 1024;

export class Backlog {
  #pieces: Buffer[] = [];
  /** Bytes used in the last chunk. */
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Buffer): void {
    const size = bytes.length;
    let last = this.#pieces.at(-1);
    if (last === undefined || last.length - this.#used < size) {
      this.#closeLast();
      last = Buffer.allocUnsafeSlow(Math.max(size, CHUNK_BYTES));
      this.#pieces.push(last);
      this.#used = 0;
    }
    this.#used += bytes.copy(last, this.#used);
    this.#length += size;
  }

  /** Removes and returns everything, in order. */
  take(): readonly Buffer[] {
    this.#closeLast();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#length = 0;
    return pieces;
  }

  #closeLast(): void {
    const last = this.#pieces.pop();
    if (last !== undefined) this.#pieces.push(last.subarray(0, this.#used));
  }
}
