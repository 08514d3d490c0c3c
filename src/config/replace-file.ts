/**
 * Writes a file as a whole: a new file beside it, synced, renamed over the name. A reader sees the old content or the
 * new, never a part; whatever goes wrong leaves the old one.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

export interface ReplaceOptions {
  /** Of a file that was not there; one that was keeps its own. Default 0o600. */
  readonly mode?: number;
  /** Makes the folder (0700) when it is not there. */
  readonly makeFolder?: boolean;
}

export function replaceFile(path: string, content: string | Uint8Array, options: ReplaceOptions = {}): void {
  const folder = dirname(path);
  if (options.makeFolder === true) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = statSync(path, { throwIfNoEntry: false });
  if (kept?.isFile() === false) throw Object.assign(new Error("it is not a file"), { code: "EISDIR" });
  const temporary = join(folder, `.throughline-${randomUUID()}.tmp`);
  const file = openSync(temporary, "wx", options.mode ?? 0o600);
  try {
    try {
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (kept !== undefined) chmodSync(temporary, kept.mode & 0o7777);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
