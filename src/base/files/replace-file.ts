/**
 * Writes a user's file as a whole: a reader sees the old content or the new, never a part, and any failure leaves the
 * old one. There is no lock, so the temporary name says which process writes it. The next process that writes to the
 * same folder removes what a killed one left.
 */

import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as yieldToLoop } from "node:timers/promises";

import { codeOf, codedError } from "../support/index.ts";
import { syncFolder, UnfinishedFile } from "./unfinished-file.ts";

export interface ReplaceOptions {
  /** The mode of a new file; an existing one keeps its own. Default: 0o600. */
  readonly mode?: number;
  /** Creates the folder (0700) if it does not exist. */
  readonly makeFolder?: boolean;
}

export function replaceFile(path: string, content: string | Uint8Array, options: ReplaceOptions = {}): void {
  if (options.makeFolder === true) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = new Replacement(path, options.mode);
  file.write(typeof content === "string" ? Buffer.from(content) : content);
  file.place("over");
}

/** Permission bits are not enough: only creating a file proves that one can be created. */
export function assertFileCanBeMade(folder: string): void {
  new UnfinishedFile(temporaryIn(folder)).discard();
}

export interface PiecesOptions {
  /** `new` fails with EEXIST if the file exists. */
  readonly how: "over" | "new";
  /** Checked between two chunks; if it aborts, nothing is written (`stopped`). */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number) => void;
}

/** Writes a large file in chunks. */
export async function writeFilePieces(
  path: string,
  pieces: Iterable<Uint8Array>,
  { how, signal, onProgress }: PiecesOptions,
): Promise<void> {
  const file = new Replacement(path);
  try {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; at += PIECE_BYTES) {
        const done = file.write(piece.subarray(at, at + PIECE_BYTES));
        onProgress?.(done);
        if (signal !== undefined) await yieldToLoop();
        if (signal?.aborted === true) throw codedError("stopped", `stopped: ${path} was not written`);
      }
    }
    file.place(how);
  } catch (error) {
    file.discard();
    throw error;
  }
}

const PIECE_BYTES = 4 * 1024 * 1024;

/** An existing file keeps its mode. */
class Replacement {
  readonly #path: string;
  readonly #file: UnfinishedFile;
  readonly #kept: number | undefined;

  constructor(path: string, mode?: number) {
    const kept = statSync(path, { throwIfNoEntry: false });
    if (kept?.isFile() === false) throw Object.assign(new Error("it is not a file"), { code: "EISDIR" });
    const folder = dirname(path);
    sweep(folder);
    this.#path = path;
    // Another user's file, a link or a second name says nothing about who may read the new file.
    const own = lstatSync(path, { throwIfNoEntry: false });
    const ours =
      own?.isFile() === true &&
      own.nlink === 1 &&
      (process.getuid === undefined || own.uid === process.getuid());
    this.#kept = ours ? own.mode & 0o7777 : undefined;
    this.#file = new UnfinishedFile(temporaryIn(folder), mode);
  }

  /** Returns the number of bytes written so far. */
  write(bytes: Uint8Array): number {
    return this.#file.write(bytes);
  }

  place(how: PiecesOptions["how"]): void {
    if (how === "new") this.#file.link(this.#path);
    else this.#file.rename(this.#path, this.#kept);
    try {
      syncFolder(dirname(this.#path));
    } catch {
      // Some folders can be written to but not opened; the file itself is written and synced.
    }
  }

  discard(): void {
    this.#file.discard();
  }
}

function temporaryIn(folder: string): string {
  return join(folder, `.throughline-${process.pid}-${randomUUID()}.tmp`);
}

const TEMPORARY = /^\.throughline-(\d+)-[0-9a-f-]{36}\.tmp$/;
/** A process on another machine or in another container may look dead from here, so its recent files are left alone. */
const LEFT_ALONE_MS = 60_000;

/** Removes temporary files of processes that are gone. Never a reason to fail. */
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
    // It cannot be listed, or we may not remove it.
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
