/**
 * Files that are complete or absent, and durable when the call returns. What a crash leaves of one on the way has a name
 * that says so (`….<pid>.tmp`); who cleans it up: leftovers.ts.
 *
 * @module
 */

import { closeSync, constants, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** The end of the name of what is not finished. Another process on another machine must not write to ours. */
export const UNFINISHED = `.${process.pid}.tmp`;

/** Complete or absent: a temporary file beside it, synced, then renamed. */
export function writeWholeFile(path: string, bytes: Uint8Array): void {
  const file = new UnfinishedFile(path);
  file.write(bytes);
  file.rename(path);
  syncFolder(dirname(path));
}

/** A file on its way, piece by piece. Whatever fails takes it away again. */
export class UnfinishedFile {
  readonly #path: string;
  readonly #file: number;
  #size = 0;
  #open = true;

  constructor(path: string) {
    this.#path = `${path}${UNFINISHED}`;
    rmSync(this.#path, { force: true });
    this.#file = openSync(this.#path, "wx", 0o600);
  }

  write(bytes: Uint8Array): void {
    this.#try(() => {
      for (let at = 0; at < bytes.length;) {
        const written = writeSync(this.#file, bytes, at, bytes.length - at, this.#size);
        if (written === 0) throw new Error("the disk took no bytes");
        at += written;
        this.#size += written;
      }
    });
  }

  /** In place of whatever has the name. */
  rename(path: string): void {
    this.#try(() => {
      this.#finish();
      renameSync(this.#path, path);
    });
  }

  /** Under a name that nobody has: EEXIST otherwise. */
  link(path: string): void {
    this.#try(() => {
      this.#finish();
      linkSync(this.#path, path);
    });
    this.discard();
  }

  discard(): void {
    this.#close();
    rmSync(this.#path, { force: true });
  }

  #finish(): void {
    fsyncSync(this.#file);
    this.#close();
  }

  #close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#file);
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.discard();
      throw error;
    }
  }
}

export function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
