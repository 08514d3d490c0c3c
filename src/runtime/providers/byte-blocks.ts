/**
 * Append-only UTF-8 text, stored in blocks. Growth copies nothing, no text crosses a block boundary, and returned views
 * stay valid.
 */

interface Block {
  readonly bytes: Buffer;
  used: number;
}

/** The location of a text. */
export interface Span {
  readonly block: number;
  readonly start: number;
  readonly end: number;
}

const FIRST_BLOCK_BYTES = 4 * 1024;
const MAX_BLOCK_BYTES = 1024 * 1024;
/** A UTF-16 code unit takes at most three bytes in UTF-8; a surrogate pair takes four. */
const MAX_UTF8_PER_UNIT = 3;
/**
 * Below this length the upper bound is good enough; for longer texts it would reserve up to three times the space
 * needed.
 */
const SHORT_TEXT = 4 * 1024;

export class ByteBlocks {
  readonly #blocks: Block[] = [];
  #last: Block = { bytes: Buffer.alloc(0), used: 0 };
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Appends `text`. `before` is a separator written in front of it; the returned span does not include it. */
  append(text: string, before = ""): Span {
    const units = text.length + before.length;
    const room = units < SHORT_TEXT ? units * MAX_UTF8_PER_UNIT : Buffer.byteLength(text) + before.length * 3;
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

  /** Returns all bytes from `offset` on. */
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
    const wanted = Math.min(MAX_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, this.#last.bytes.length * 2));
    this.#last = { bytes: Buffer.allocUnsafeSlow(Math.max(room, wanted)), used: 0 };
    this.#blocks.push(this.#last);
  }
}
