/**
 * Reads the rows of another writer's scratch journal as they come. The writer removes the file and makes it anew: that is
 * told by device, inode and time of birth, by a file that has become shorter, and by its first bytes, because a system
 * gives the same inode again at once and its clock has ticks of several milliseconds. Nothing here fails: the journal may
 * be lost.
 */

import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

import type { NewRows } from "./changes.ts";

/** So much is read at a time. A row that is longer is passed over: nobody writes one. */
const PIECE = 4 * 1024 * 1024;
/** Enough for the id of a response, which no two files share. */
const HEAD = 128;
const LF = 0x0a;

const NOTHING: NewRows = { rows: [], more: false };

export class ScratchReader {
  readonly #path: string;
  #file = "";
  #head: Buffer = Buffer.alloc(0);
  /** Behind the last whole row that was read. */
  #at = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The whole rows that came since it was last asked. */
  take(): NewRows {
    let file: number | undefined;
    try {
      // A link is not followed, a pipe is not waited for.
      file = openSync(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const found = fstatSync(file, { bigint: true });
      return found.isFile() ? this.#read(file, found) : NOTHING;
    } catch {
      return NOTHING; // none there, or not ours to read
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #read(file: number, found: BigIntStats): NewRows {
    const { dev, ino, birthtimeNs } = found;
    const size = Number(found.size);
    const id = `${dev} ${ino} ${birthtimeNs}`;
    const head = bytesAt(file, 0, Math.min(HEAD, size));
    if (id !== this.#file || size < this.#at || !sameStart(head, this.#head)) this.#at = 0;
    this.#file = id;
    this.#head = head;
    const bytes = bytesAt(file, this.#at, Math.min(PIECE, size - this.#at));
    const end = bytes.lastIndexOf(LF) + 1;
    this.#at += end === 0 && bytes.length === PIECE ? PIECE : end;
    return {
      rows: wholeRows(bytes.toString("utf8", 0, end)),
      more: bytes.length === PIECE && this.#at < size,
    };
  }
}

/** Without what stands behind the last LF; a writer that found a torn row has put an empty line behind it. */
export function wholeRows(text: string): readonly string[] {
  return text
    .split("\n")
    .slice(0, -1)
    .filter((row) => row !== "");
}

/** The same file may have grown since. */
function sameStart(head: Buffer, before: Buffer): boolean {
  return head.subarray(0, before.length).equals(before);
}

function bytesAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}
