/**
 * A tool's result as the model reads it: text of bounded size. The head and the tail are kept, because the end of a log
 * shows how it went; the marker between them says how much is missing. The full text is returned only if something was
 * left out, for the caller to store as a blob.
 */

import { valueToText } from "./value-to-text.ts";

export interface RenderedOutput {
  readonly text: string;
  readonly truncated: boolean;
  readonly full?: string;
}

const MAX_MODEL_BYTES = 64 * 1024;

/** Never throws, whatever the tool returned or threw. `maxBytes` counts UTF-8 bytes, including the marker. */
export function renderToolOutput(value: unknown, maxBytes = MAX_MODEL_BYTES): RenderedOutput {
  const full = valueToText(value);
  // UTF-8 needs at most three bytes per UTF-16 code unit, so short text need not be measured.
  if (full.length * 3 <= maxBytes || Buffer.byteLength(full) <= maxBytes) {
    return { text: full, truncated: false };
  }
  return { text: keepHeadAndTail(Buffer.from(full), maxBytes), truncated: true, full };
}

/** If `maxBytes` is smaller than the marker, only the marker is returned. */
function keepHeadAndTail(bytes: Buffer, maxBytes: number): string {
  const total = bytes.byteLength;
  const room = Math.max(0, maxBytes - Buffer.byteLength(marker(total, total)));
  const headEnd = boundaryBefore(bytes, Math.ceil(room / 2));
  const tailStart = boundaryAfter(bytes, total - Math.floor(room / 2));
  const head = bytes.toString("utf8", 0, headEnd);
  const tail = bytes.toString("utf8", tailStart);
  return head + marker(tailStart - headEnd, total) + tail;
}

function marker(leftOut: number, total: number): string {
  return `\n\n[… ${leftOut} of ${total} bytes left out here …]\n\n`;
}

/** The nearest start of a character at or before `at`. */
function boundaryBefore(bytes: Buffer, at: number): number {
  let end = at;
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return end;
}

/** The nearest start of a character at or after `at`. */
function boundaryAfter(bytes: Buffer, at: number): number {
  let start = at;
  while (start < bytes.byteLength && isContinuation(bytes[start])) start += 1;
  return start;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
