/**
 * Reads files that other people wrote. Only a plain file of a bounded size is read: a pipe or a device could block for
 * ever, and a file that grows while it is read ends at the limit.
 */

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";

/** The whole file; throws an error whose message says what is wrong. */
export function readPlainFile(file: string, maxBytes: number): Buffer {
  const { head, bytes } = readHead(file, maxBytes + 1);
  if (bytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  return head;
}

/** At most `maxBytes` from the start, and how large the file is. */
export function readHead(file: string, maxBytes: number): { readonly head: Buffer; readonly bytes: number } {
  // Opening some devices has effects of its own, so look first. The handle is checked again below.
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

const NOT_PLAIN = "it is not a regular file";
