/**
 * Bytes that only grow at the end. What was handed out stays valid: growth copies into a new buffer.
 *
 * @module
 */

export class GrowingBytes {
  #bytes = new Uint8Array(64 * 1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(added: Uint8Array): void {
    const needed = this.#length + added.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.view());
      this.#bytes = grown;
    }
    this.#bytes.set(added, this.#length);
    this.#length = needed;
  }

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
