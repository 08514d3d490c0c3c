/**
 * Reads the rows of another writer's scratch journal as they arrive. The writer empties the file after each response, or
 * removes and recreates it. The reader notices by device, inode and birth time, by a shorter file, and by its first
 * bytes, because a system may reuse an inode at once and its clock has ticks of several milliseconds. Nothing here
 * fails: the journal may be lost.
 */

import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

import type { NewRows } from "./changes.ts";

/** How much is read at a time. A longer row is skipped; no writer produces one. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Enough for the id of a response, which no two files share. */
const HEAD_BYTES = 128;
const LF = 0x0a;

const NOTHING: NewRows = { rows: [], more: false };

export class ScratchReader {
  readonly #path: string;
  #file = "";
  #head: Buffer = Buffer.alloc(0);
  /** The end of the last complete row that was read. */
  #at = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The complete rows that arrived since the last call. */
  take(): NewRows {
    let file: number | undefined;
    try {
      // Does not follow a link or wait for a pipe.
      file = openSync(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const found = fstatSync(file, { bigint: true });
      return found.isFile() ? this.#read(file, found) : NOTHING;
    } catch {
      return NOTHING; // there is none, or we may not read it
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #read(file: number, found: BigIntStats): NewRows {
    const { dev, ino, birthtimeNs } = found;
    const size = Number(found.size);
    const id = `${dev} ${ino} ${birthtimeNs}`;
    const head = bytesAt(file, 0, Math.min(HEAD_BYTES, size));
    if (id !== this.#file || size < this.#at || !sameStart(head, this.#head)) this.#at = 0;
    this.#file = id;
    this.#head = head;
    const bytes = bytesAt(file, this.#at, Math.min(CHUNK_BYTES, size - this.#at));
    const end = bytes.lastIndexOf(LF) + 1;
    this.#at += end === 0 && bytes.length === CHUNK_BYTES ? CHUNK_BYTES : end;
    return {
      rows: wholeRows(bytes.toString("utf8", 0, end)),
      more: bytes.length === CHUNK_BYTES && this.#at < size,
    };
  }
}

/** Omits the text after the last LF. A writer that found a torn row has ended it with an extra line break. */
export function wholeRows(text: string): readonly string[] {
  return text
    .split("\n")
    .slice(0, -1)
    .filter((row) => row !== "");
}

/** The file may have grown since. */
function sameStart(head: Buffer, before: Buffer): boolean {
  return head.subarray(0, before.length).equals(before);
}

function bytesAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}
