/**
 * Lines of a file: JSON with its checksum as the last field, then LF. The log (docs/log-format.md) and the proxy's
 * ledger are made of them.
 */

import { constants } from "node:buffer";
import { crc32 } from "node:zlib";

/** `text` is a JSON object without its closing brace. */
export function frameOpen(text: string): Buffer {
  const open = Buffer.from(text, "utf8");
  const sum = crc32(open).toString(16).padStart(8, "0");
  return Buffer.concat([open, Buffer.from(`,"sum":"${sum}"}\n`, "latin1")]);
}

export const LF = Buffer.from("\n");

export interface RawLine {
  /** Its offset in the bytes. */
  readonly at: number;
  /** Without its line break. */
  readonly line: Buffer;
  /** False if the bytes end in the middle of the line. */
  readonly ended: boolean;
}

export function* splitLines(bytes: Buffer, from = 0): Generator<RawLine> {
  for (let at = from; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at);
    const line = bytes.subarray(at, end === -1 ? bytes.length : end);
    yield { at, line, ended: end !== -1 };
    at += line.length + 1;
  }
}

export const SUM_BYTES = ',"sum":"00000000"}'.length;

/** Returns the line without its checksum, or undefined if the checksum does not match. */
export function checkedLine(line: Buffer): string | undefined {
  return isWhole(line, 0, line.length) ? textOfLine(line, 0, line.length) : undefined;
}

/** Whether the checksum of a line matches. */
export function isWhole(bytes: Buffer, start: number, end: number): boolean {
  const length = end - SUM_BYTES - start;
  // No writer produces a longer one, and no string can hold it.
  if (length <= 0 || length >= constants.MAX_STRING_LENGTH) return false;
  // Faster than a subarray: only crc32 looks at it.
  const open = new Uint8Array(bytes.buffer, bytes.byteOffset + start, length);
  return sumAt(bytes, start + length) === crc32(open);
}

/** The line without its checksum, of a line that was verified. */
export function textOfLine(bytes: Buffer, start: number, end: number): string {
  const openEnd = end - SUM_BYTES;
  // Decodes once and joins nothing: the closing brace briefly replaces the comma before the checksum.
  bytes[openEnd] = CLOSE_BRACE;
  const text = bytes.toString("utf8", start, openEnd + 1);
  bytes[openEnd] = COMMA;
  return text;
}

/** The number in `,"sum":"0123abcd"}`, or -1 for anything else. */
function sumAt(bytes: Buffer, at: number): number {
  for (let index = 0; index < SUM_HEAD.length; index += 1) {
    if (bytes[at + index] !== SUM_HEAD[index]) return -1;
  }
  let sum = 0;
  for (let index = at + SUM_HEAD.length; index < at + SUM_BYTES - 2; index += 1) {
    const byte = bytes[index] ?? 0;
    const digit =
      byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : 16;
    if (digit === 16) return -1;
    sum = sum * 16 + digit;
  }
  return bytes[at + SUM_BYTES - 2] === QUOTE && bytes[at + SUM_BYTES - 1] === CLOSE_BRACE ? sum : -1;
}

const SUM_HEAD = Buffer.from(',"sum":"');
const COMMA = 0x2c;
const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;
