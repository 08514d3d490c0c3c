/**
 * A file being written: under another name next to its destination, synced, then moved there at once. A reader sees the
 * old content or all of the new. Any failure removes the unfinished file again, and the first error is the one
 * reported. A killed process leaves it under the temporary name; the caller that chose the name must have it cleaned
 * up.
 */

import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";

export class UnfinishedFile {
  readonly #temporary: string;
  readonly #file: number;
  #size = 0;
  #open = true;

  /** `temporary` must be in the folder of the destination and must not exist. */
  constructor(temporary: string, mode = 0o600) {
    this.#temporary = temporary;
    this.#file = openSync(temporary, "wx", mode);
  }

  /** Returns the number of bytes written so far. */
  write(bytes: Uint8Array): number {
    this.#try(() => {
      for (let at = 0; at < bytes.length;) {
        const written = writeSync(this.#file, bytes, at, bytes.length - at, this.#size);
        if (written === 0) throw new Error("the disk accepted no bytes");
        at += written;
        this.#size += written;
      }
    });
    return this.#size;
  }

  /** Replaces any file of that name. */
  rename(path: string, mode?: number): void {
    this.#try(() => {
      this.#finish();
      if (mode !== undefined) chmodSync(this.#temporary, mode);
      renameSync(this.#temporary, path);
    });
  }

  /** Fails with EEXIST if the name is taken. */
  link(path: string): void {
    this.#try(() => {
      this.#finish();
      linkSync(this.#temporary, path);
    });
    this.discard();
  }

  /** Never fails: what cannot be removed keeps the temporary name, by which it is cleaned up later. */
  discard(): void {
    try {
      this.#close();
    } catch {
      // The bytes are no longer needed.
    }
    try {
      rmSync(this.#temporary, { force: true });
    } catch {
      // Left for the next writer.
    }
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

/** Makes the names in a folder survive a loss of power too. */
export function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
