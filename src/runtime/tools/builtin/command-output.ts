/**
 * Collects what a command prints in bounded memory: the first and the last part are kept, what lies between
 * is counted. A command that prints without end costs no more than one that prints a megabyte.
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
    // Whole chunks go, so the tail is at most one chunk longer than asked until it is read.
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
    // Joined before decoding: a character may lie across the border.
    if (leftOut === 0) return Buffer.concat([...this.#head, tail]).toString("utf8");
    const head = Buffer.concat(this.#head).toString("utf8");
    return `${head}\n[… ${leftOut} bytes of output left out …]\n${tail.subarray(surplus).toString("utf8")}`;
  }
}
