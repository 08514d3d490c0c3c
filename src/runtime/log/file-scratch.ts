/**
 * The scratch journal of a log. It may be lost, so nothing here fails: a full disk or a foreign file in its place must
 * not end a turn.
 * One file serves all responses until the log is closed, and is emptied after each: to make and remove a file costs more
 * than to write its rows. For the same reason it becomes the session's summary when a turn ends.
 */

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";

import { readRegularFile } from "../../base/files/index.ts";
import type { Scratch } from "./log.ts";
import { wholeRows } from "./scratch-reader.ts";

export class FileScratch implements Scratch {
  readonly #path: string;
  /** Open from the first row of a response to its end. */
  #file: number | undefined;
  /** What is there. An earlier writer may have left something. */
  #holds: "unknown" | "nothing" | "no rows" | "rows" = "unknown";
  /** Whether it is the only name of the file. With another name, it is not ours to empty. */
  #alone = true;

  constructor(path: string) {
    this.#path = path;
  }

  write(rows: readonly string[]): void {
    if (rows.length === 0) return;
    try {
      const lines = `${rows.join("\n")}\n`;
      if (this.#file !== undefined) writeSync(this.#file, lines);
      else writeSync(this.#open(), this.#holds === "rows" ? `\n${lines}` : lines);
      this.#holds = "rows";
    } catch {
      // Lost. If something is wrong with the disk, the log itself reports it.
    }
  }

  async rows(): Promise<readonly string[]> {
    try {
      return wholeRows(readRegularFile(this.#path).toString("utf8"));
    } catch {
      return [];
    }
  }

  clear(): void {
    try {
      if (this.#file !== undefined && this.#alone) {
        ftruncateSync(this.#file);
        this.#holds = "no rows";
      } else if (this.#file !== undefined || this.#holds === "unknown" || this.#holds === "rows")
        this.#remove();
    } catch {
      // A leftover journal is recognized by the id of its response.
    } finally {
      this.#leave();
    }
  }

  /** Gives the emptied file away under another name, to save the making of one. Returns false if there is none. */
  giveAs(path: string): boolean {
    if (this.#holds !== "no rows" || this.#file !== undefined) return false;
    this.#holds = "nothing";
    renameSync(this.#path, path);
    return true;
  }

  /** Rows of a response that is still open stay for the next writer. */
  close(): void {
    this.#leave();
    try {
      if (this.#holds === "no rows") this.#remove();
    } catch {
      // The next writer uses it.
    }
  }

  #open(): number {
    this.#file = openSync(this.#path, FLAGS, 0o600);
    const { size, nlink } = fstatSync(this.#file);
    // An earlier writer may have left a torn row, which would corrupt the next one.
    this.#holds = size > 0 ? "rows" : "no rows";
    this.#alone = nlink === 1;
    return this.#file;
  }

  #remove(): void {
    rmSync(this.#path, { force: true });
    this.#holds = "nothing";
  }

  #leave(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

const FLAGS =
  constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
