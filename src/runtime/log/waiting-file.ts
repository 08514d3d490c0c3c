/**
 * The waiting turns of a session, as lines in `<id>.waiting` next to the log (docs/log-format.md, Waiting turns).
 *
 * Lines are framed as in the log. A line adds a turn, cancels it, or says that the log has it. The file is removed when
 * no turn is waiting. Only the holder of the session's lock writes to it.
 */

import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

import { checkedLine, fileProblem, frameOpen, readRegularFile, splitLines } from "../../base/files/index.ts";
import {
  codeOf,
  isObject,
  type JsonObject,
  ThroughlineError,
  tryParseJson,
} from "../../base/support/index.ts";
import type { Waiting, WaitingTurn } from "./log.ts";
import { saveAside } from "./torn-tail.ts";
import { syncFolder, writeWholeFile } from "./whole-file.ts";

export const WAITING = ".waiting";

type Turns = ReadonlyMap<string, WaitingTurn>;

interface Read {
  readonly turns: Turns;
  /** The end of the last complete line. */
  readonly end: number;
  readonly bytes: Buffer;
  /** How many complete lines are not lines of ours. */
  readonly damaged: number;
}

/** The file is rewritten when it exceeds twice the live size by this much. */
const SPARE_BYTES = 1024 * 1024;

export class WaitingFile implements Waiting {
  readonly #path: string;
  #turns: Map<string, WaitingTurn> | undefined;
  #bytes = 0;
  /** Line sizes of the turns added by this instance. Turns that were read from the file are not counted. */
  readonly #sizes = new Map<string, number>();
  /** Operations run one after the other: a turn that ends at once must not be removed before it was added. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  async list(): Promise<readonly WaitingTurn[]> {
    return [...this.#read().turns.values()];
  }

  recover(): Promise<{ readonly turns: readonly WaitingTurn[]; readonly problem?: string }> {
    return this.#enqueue(async () => {
      const { turns, end, bytes, damaged } = this.#read();
      this.#turns = new Map(turns);
      this.#bytes = end;
      const found = [...turns.values()];
      if (damaged === 0 && end < bytes.length) this.#cutAt(end); // the last line was never acknowledged
      if (damaged === 0) return { turns: found };
      const saved = saveAside(`${this.#path}-damaged`, bytes);
      this.#rewrite();
      const lines = damaged === 1 ? "1 line" : `${damaged} lines`;
      return {
        turns: found,
        problem: `${lines} of ${this.#path} cannot be read, so a promised turn may be missing. The original file was saved as ${saved}; the readable turns continue`,
      };
    });
  }

  add(turn: string, request: JsonObject): Promise<void> {
    return this.#enqueue(async () => {
      this.#sizes.set(turn, await this.#write({ turn, request }, "durable"));
      this.#known.set(turn, { turn, request, cancelled: false });
    });
  }

  cancel(turn: string): Promise<void> {
    return this.#enqueue(async () => {
      const waiting = this.#known.get(turn);
      if (waiting === undefined) return;
      await this.#write({ cancelled: turn }, "durable");
      this.#known.set(turn, { ...waiting, cancelled: true });
    });
  }

  /** Not durable: if a loss of power brings the turn back, it is in the log and is dropped again. */
  remove(turn: string): Promise<void> {
    return this.#enqueue(async () => {
      if (!this.#known.delete(turn)) return;
      this.#sizes.delete(turn);
      if (this.#known.size === 0) this.#clear();
      else if (this.#bytes > SPARE_BYTES && this.#bytes > 2 * this.#liveBytes + SPARE_BYTES) this.#rewrite();
      else await this.#write({ done: turn });
    });
  }

  /** Roughly how much of the file still counts. Large inputs are not serialized just to measure them. */
  get #liveBytes(): number {
    let sum = 0;
    for (const turn of this.#known.keys()) sum += this.#sizes.get(turn) ?? 0;
    return sum;
  }

  get #known(): Map<string, WaitingTurn> {
    this.#turns ??= new Map(this.#read().turns);
    return this.#turns;
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #read(): Read {
    let bytes: Buffer;
    try {
      bytes = readRegularFile(this.#path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return { turns: new Map(), end: 0, bytes: Buffer.alloc(0), damaged: 0 };
      throw this.#failed("cannot be read", error);
    }
    const turns = new Map<string, WaitingTurn>();
    let [end, damaged] = [0, 0];
    for (const { at, line, ended } of splitLines(bytes)) {
      if (!ended) break;
      end = at + line.length + 1;
      if (!take(turns, tryParseJson(checkedLine(line) ?? ""))) damaged += 1;
    }
    return { turns, end, bytes, damaged };
  }

  /** Resolves to the length of the line. */
  async #write(fields: JsonObject, durable?: "durable"): Promise<number> {
    const line = lineOf(fields);
    let file: number | undefined;
    try {
      file = openSync(this.#path, FLAGS, 0o600);
      if (!fstatSync(file).isFile()) throw new Error("it is not a regular file");
      const before = fstatSync(file).size;
      try {
        for (let done = 0; done < line.length;) done += writeSync(file, line, done);
        if (durable !== undefined) await synced(file);
      } catch (error) {
        ftruncateSync(file, before); // an unacknowledged line must not count, nor corrupt the next one
        throw error;
      }
      if (before === 0) syncFolder(dirname(this.#path));
      this.#bytes = before + line.length;
      return line.length;
    } catch (error) {
      throw this.#failed("cannot be written", error);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #cutAt(end: number): void {
    const file = openSync(this.#path, FLAGS);
    try {
      ftruncateSync(file, end);
    } finally {
      closeSync(file);
    }
    if (this.#known.size === 0) this.#clear();
  }

  #rewrite(): void {
    if (this.#known.size === 0) return this.#clear();
    const lines = linesOf(this.#known);
    writeWholeFile(this.#path, lines);
    this.#bytes = lines.length;
  }

  #clear(): void {
    rmSync(this.#path, { force: true });
    this.#bytes = 0;
  }

  #failed(what: string, error: unknown): ThroughlineError {
    return new ThroughlineError({
      code: "waiting_failed",
      message: `the list of waiting turns, ${this.#path}, ${what}: ${fileProblem(error)}`,
      details: { errno: codeOf(error) },
      cause: error,
    });
  }
}

const FLAGS =
  constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function lineOf(fields: JsonObject): Buffer {
  return frameOpen(JSON.stringify(fields).slice(0, -1));
}

function linesOf(turns: Turns): Buffer {
  return Buffer.concat(
    [...turns.values()].flatMap(({ turn, request, cancelled }) => [
      lineOf({ turn, request }),
      ...(cancelled ? [lineOf({ cancelled: turn })] : []),
    ]),
  );
}

/** Returns false if it is not a line of ours. */
function take(turns: Map<string, WaitingTurn>, line: unknown): boolean {
  if (!isObject(line)) return false;
  const { turn, request, cancelled, done } = line;
  if (typeof turn === "string" && isObject(request)) turns.set(turn, { turn, request, cancelled: false });
  else if (typeof done === "string") turns.delete(done);
  else if (typeof cancelled === "string") {
    const waiting = turns.get(cancelled);
    if (waiting !== undefined) turns.set(cancelled, { ...waiting, cancelled: true });
  } else return false;
  return true;
}

function synced(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });
}
