/**
 * Reads text from an open file within bounds: a range of lines and a number of bytes. Whatever the file's size, this
 * costs at most the bytes returned. The result tells the caller what was left out.
 */

import type { FileHandle } from "node:fs/promises";

export interface ReadTextOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly startLine?: number;
  readonly endLine?: number;
}

export type ReadText =
  | { readonly type: "binary" }
  | {
      readonly type: "text";
      readonly text: string;
      /** Some bytes were not UTF-8 and appear as U+FFFD. */
      readonly damaged: boolean;
      /** The last line that is shown; with `cut`, possibly only in part. */
      readonly lastLine: number;
      readonly cut: boolean;
      /** The number of lines in the file, known if its end was reached. */
      readonly totalLines?: number;
    };

const CHUNK_BYTES = 64 * 1024;
const SNIFFED_BYTES = 8 * 1024;
const NEWLINE = 0x0a;

export async function readText(handle: FileHandle, options: ReadTextOptions): Promise<ReadText> {
  const { maxBytes, signal, startLine = 1, endLine = Number.POSITIVE_INFINITY } = options;
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  let lineHasBytes = false;
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafe(CHUNK_BYTES),
      0,
      CHUNK_BYTES,
      position,
    );
    if (bytesRead === 0)
      return { ...decode(kept, false), lastLine: line, totalLines: lineHasBytes ? line : line - 1 };
    const chunk = buffer.subarray(0, bytesRead);
    // Git's heuristic: text has no NUL near its start.
    if (position === 0 && chunk.subarray(0, SNIFFED_BYTES).includes(0)) return { type: "binary" };
    position += bytesRead;
    for (let at = 0; at < bytesRead;) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? bytesRead : newline + 1;
      if (line >= startLine) {
        const part = chunk.subarray(at, Math.min(end, at + maxBytes - keptBytes));
        kept.push(part);
        keptBytes += part.byteLength;
        if (part.byteLength < end - at) return { ...decode(kept, true), lastLine: line };
      }
      at = end;
      lineHasBytes = newline === -1;
      if (newline === -1) continue;
      if (line >= endLine) return { ...decode(kept, false), lastLine: line };
      line += 1;
    }
  }
}

function decode(
  parts: readonly Buffer[],
  cut: boolean,
): { type: "text"; text: string; damaged: boolean; cut: boolean } {
  const joined = Buffer.concat(parts);
  const bytes = cut ? withoutBrokenEnd(joined) : joined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { type: "text", text, damaged: false, cut };
  } catch {
    return { type: "text", text: bytes.toString("utf8"), damaged: true, cut };
  }
}

/** Removes a character that the cut split; that is not damage in the file. */
function withoutBrokenEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.byteLength); back += 1) {
    const byte = bytes[bytes.byteLength - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue; // a continuation byte: the first byte is further back
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.byteLength - back) : bytes;
  }
  return bytes;
}
