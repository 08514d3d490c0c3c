/**
 * A file on its way: written beside its place under another name, synced, then put there at once. A reader sees what was
 * there before or the whole; whatever fails takes the unfinished one away again, and the first error is the one that is told. What a killed process leaves of it has
 * the temporary name, and whoever chose that name knows who cleans it up.
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

  /** `temporary` must lie in the folder of the place, and must not be there. */
  constructor(temporary: string, mode = 0o600) {
    this.#temporary = temporary;
    this.#file = openSync(temporary, "wx", mode);
  }

  /** How many bytes there are now. */
  write(bytes: Uint8Array): number {
    this.#try(() => {
      for (let at = 0; at < bytes.length;) {
        const written = writeSync(this.#file, bytes, at, bytes.length - at, this.#size);
        if (written === 0) throw new Error("the disk took no bytes");
        at += written;
        this.#size += written;
      }
    });
    return this.#size;
  }

  /** In place of whatever has the name. */
  rename(path: string, mode?: number): void {
    this.#try(() => {
      this.#finish();
      if (mode !== undefined) chmodSync(this.#temporary, mode);
      renameSync(this.#temporary, path);
    });
  }

  /** Under a name that no file has yet: EEXIST otherwise. */
  link(path: string): void {
    this.#try(() => {
      this.#finish();
      linkSync(this.#temporary, path);
    });
    this.discard();
  }

  /** Never fails: what the disk does not let go has the temporary name, and is cleaned up by that. */
  discard(): void {
    try {
      this.#close();
    } catch {
      // The bytes are not wanted any more.
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

/** So that the names in it are there after a loss of power too. */
export function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
