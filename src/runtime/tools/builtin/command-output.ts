/**
 * Collects a command's output in bounded memory: the first and the last part are kept, the rest is counted. A command
 * that prints endlessly costs no more than one that prints a megabyte.
 */

const MAX_HEAD_BYTES = 512 * 1024;
const MAX_TAIL_BYTES = 512 * 1024;

export class CommandOutput {
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  readonly #maxHead: number;
  readonly #maxTail: number;
  #headBytes = 0;
  #tailBytes = 0;
  #leftOut = 0;

  constructor(options: { readonly maxHeadBytes?: number; readonly maxTailBytes?: number } = {}) {
    this.#maxHead = options.maxHeadBytes ?? MAX_HEAD_BYTES;
    this.#maxTail = options.maxTailBytes ?? MAX_TAIL_BYTES;
  }

  add(chunk: Buffer): void {
    const room = this.#maxHead - this.#headBytes;
    if (room > 0) {
      const part = chunk.subarray(0, room);
      this.#head.push(part);
      this.#headBytes += part.byteLength;
    }
    if (chunk.byteLength <= room) return;
    const rest = chunk.subarray(Math.max(0, room));
    this.#tail.push(rest);
    this.#tailBytes += rest.byteLength;
    // Only whole chunks are dropped, so until it is read the tail may exceed its limit by one chunk.
    for (let first = this.#tail[0]; first !== undefined; first = this.#tail[0]) {
      if (this.#tailBytes - first.byteLength < this.#maxTail) break;
      this.#tail.shift();
      this.#tailBytes -= first.byteLength;
      this.#leftOut += first.byteLength;
    }
  }

  text(): string {
    const tail = Buffer.concat(this.#tail);
    const surplus = Math.max(0, tail.byteLength - this.#maxTail);
    const leftOut = this.#leftOut + surplus;
    // Joined before decoding: a character may span head and tail.
    if (leftOut === 0) return Buffer.concat([...this.#head, tail]).toString("utf8");
    const head = Buffer.concat(this.#head).toString("utf8");
    return `${head}\n[… ${leftOut} bytes of output left out …]\n${tail.subarray(surplus).toString("utf8")}`;
  }
}
