/**
 * What waits for a client that reads more slowly than a session speaks: bytes in a few large pieces. Thousands of small
 * strings in a socket's own queue, three for each event, take several times what they say; with many slow clients that
 * was most of what the server held.
 */

const PIECE = 64 * 1024;

export class Backlog {
  #pieces: Buffer[] = [];
  /** Of the last piece. */
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
      last = Buffer.allocUnsafeSlow(Math.max(size, PIECE));
      this.#pieces.push(last);
      this.#used = 0;
    }
    this.#used += bytes.copy(last, this.#used);
    this.#length += size;
  }

  /** Everything, in order; nothing waits any more. */
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
