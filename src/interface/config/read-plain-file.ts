/**
 * Reads files that other people wrote. Reads only regular files up to a limit: a pipe or a device could block forever,
 * and a file could grow while it is read.
 */

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

/** Returns the whole file, or throws an error that says what is wrong. */
export function readPlainFile(file: string, maxBytes: number): Buffer {
  const { head, bytes } = readHead(file, maxBytes + 1);
  if (bytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  return head;
}

/** Returns at most `maxBytes` from the start, and the size of the file. */
export function readHead(file: string, maxBytes: number): { readonly head: Buffer; readonly bytes: number } {
  // Opening some devices has side effects, so check before opening. The handle is checked again below.
  if (!statSync(file).isFile()) throw new Error(NOT_PLAIN);
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new Error(NOT_PLAIN);
    const buffer = Buffer.alloc(Math.min(found.size + 1, maxBytes));
    let size = 0;
    while (size < buffer.length) {
      const read = readSync(descriptor, buffer, size, buffer.length - size, size);
      if (read === 0) break;
      size += read;
    }
    return { head: buffer.subarray(0, size), bytes: Math.max(size, found.size) };
  } finally {
    closeSync(descriptor);
  }
}

const NOT_PLAIN = "not a regular file";
