/**
 * Writes a file as a whole: a new file beside it, synced, then put under the name. A reader sees the old content or the
 * new, never a part; whatever goes wrong leaves the old one. What a killed process left beside it is taken away by the
 * next one that writes into the same folder.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as breath } from "node:timers/promises";

import { codeOf, ThroughlineError } from "../support/index.ts";

export interface ReplaceOptions {
  /** Of a file that was not there; one that was keeps its own. Default 0o600. */
  readonly mode?: number;
  /** Makes the folder (0700) when it is not there. */
  readonly makeFolder?: boolean;
}

export function replaceFile(path: string, content: string | Uint8Array, options: ReplaceOptions = {}): void {
  if (options.makeFolder === true) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = new FileOnItsWay(path, options.mode);
  file.write(typeof content === "string" ? Buffer.from(content) : content);
  file.place("over");
}

export interface PiecesOptions {
  /** `new`: EEXIST where there is one already. */
  readonly how: "over" | "new";
  /** Heard between two pieces; then nothing is written (`stopped`). */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number) => void;
}

/** A large file, piece by piece. */
export async function writeFilePieces(
  path: string,
  pieces: Iterable<Uint8Array>,
  { how, signal, onProgress }: PiecesOptions,
): Promise<void> {
  const file = new FileOnItsWay(path);
  try {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; at += PIECE_BYTES) {
        const done = file.write(piece.subarray(at, at + PIECE_BYTES));
        onProgress?.(done);
        if (signal !== undefined) await breath();
        if (signal?.aborted === true)
          throw new ThroughlineError({ code: "stopped", message: `stopped: ${path} was not written` });
      }
    }
    file.place(how);
  } catch (error) {
    file.discard();
    throw error;
  }
}

const PIECE_BYTES = 4 * 1024 * 1024;

class FileOnItsWay {
  readonly #path: string;
  readonly #temporary: string;
  readonly #file: number;
  /** The mode of what is there. */
  readonly #kept: number | undefined;
  #size = 0;
  #open = true;

  constructor(path: string, mode = 0o600) {
    const kept = statSync(path, { throwIfNoEntry: false });
    if (kept?.isFile() === false) throw Object.assign(new Error("it is not a file"), { code: "EISDIR" });
    this.#path = path;
    this.#kept = kept === undefined ? undefined : kept.mode & 0o7777;
    sweep(dirname(path));
    this.#temporary = join(dirname(path), `.throughline-${process.pid}-${randomUUID()}.tmp`);
    this.#file = openSync(this.#temporary, "wx", mode);
  }

  /** How many bytes there are now. */
  write(bytes: Uint8Array): number {
    this.#try(() => {
      for (let at = 0; at < bytes.length;) {
        const written = writeSync(this.#file, bytes, at, bytes.length - at, this.#size);
        at += written;
        this.#size += written;
      }
    });
    return this.#size;
  }

  place(how: PiecesOptions["how"]): void {
    this.#try(() => {
      fsyncSync(this.#file);
      this.#close();
      if (how === "new") linkSync(this.#temporary, this.#path);
      else {
        if (this.#kept !== undefined) chmodSync(this.#temporary, this.#kept);
        renameSync(this.#temporary, this.#path);
      }
      syncFolder(dirname(this.#path));
    });
    if (how === "new") this.discard();
  }

  discard(): void {
    this.#close();
    rmSync(this.#temporary, { force: true });
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

/** So that the name is there after a loss of power too. Some folders cannot be opened, only written into. */
function syncFolder(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
    fsyncSync(folder);
  } catch {
    // The file itself is written and synced.
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

const TEMPORARY = /^\.throughline-(\d+)-[0-9a-f-]{36}\.tmp$/;
/** A process of another machine or container may look dead from here: what it writes is not left alone for so long. */
const LEFT_ALONE_MS = 60_000;

/** Temporary files of processes that are gone. Never a reason to fail. */
function sweep(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const pid = Number(TEMPORARY.exec(name)?.[1] ?? 0);
      if (pid === 0 || isAlive(pid)) continue;
      const found = statSync(join(folder, name), { throwIfNoEntry: false });
      if (found !== undefined && Date.now() - found.mtimeMs > LEFT_ALONE_MS)
        rmSync(join(folder, name), { force: true });
    }
  } catch {
    // Not to be listed, or not ours to remove.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
