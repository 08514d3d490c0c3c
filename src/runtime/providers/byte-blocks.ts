/**
 * Texts as UTF-8 bytes that only grow at the end, in blocks. Growth copies nothing, a text never crosses a block, and what
 * was handed out stays valid.
 */

interface Block {
  readonly bytes: Buffer;
  used: number;
}

/** Where a text stands. */
export interface Span {
  readonly block: number;
  readonly start: number;
  readonly end: number;
}

const FIRST_BYTES = 4 * 1024;
const LARGEST_BYTES = 1024 * 1024;
/** A UTF-16 unit takes at most three bytes; a pair of them takes four. */
const MAX_UTF8_PER_UNIT = 3;
/** Up to here a bound is enough; a longer text would ask for three times its room. */
const SHORT = 4 * 1024;

export class ByteBlocks {
  readonly #blocks: Block[] = [];
  #last: Block = { bytes: Buffer.alloc(0), used: 0 };
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What stands between goes with the text: a separator. */
  append(text: string, before = ""): Span {
    const units = text.length + before.length;
    const room = units < SHORT ? units * MAX_UTF8_PER_UNIT : Buffer.byteLength(text) + before.length * 3;
    if (this.#last.used + room > this.#last.bytes.length) this.#addBlock(room);
    const block = this.#last;
    const start = block.used + (before === "" ? 0 : block.bytes.write(before, block.used));
    const end = start + block.bytes.write(text, start);
    this.#length += end - block.used;
    block.used = end;
    return { block: this.#blocks.length - 1, start, end };
  }

  textAt({ block, start, end }: Span): string {
    return this.#blocks[block]?.bytes.toString("utf8", start, end) ?? "";
  }

  /** All bytes from an offset on. */
  since(offset: number): readonly Uint8Array[] {
    const views: Uint8Array[] = [];
    let from = this.#length;
    for (let index = this.#blocks.length - 1; index >= 0 && from > offset; index -= 1) {
      const { bytes, used } = this.#blocks[index] as Block;
      from -= used;
      views.unshift(bytes.subarray(Math.max(0, offset - from), used));
    }
    return views;
  }

  #addBlock(room: number): void {
    const wanted = Math.min(LARGEST_BYTES, Math.max(FIRST_BYTES, this.#last.bytes.length * 2));
    this.#last = { bytes: Buffer.allocUnsafeSlow(Math.max(room, wanted)), used: 0 };
    this.#blocks.push(this.#last);
  }
}
