/**
 * The files of a ledger: lines with checksums, appended by one process each, so that readers and other writers need no
 * lock. A torn end or a damaged line costs that line only and is reported: a ledger is memory, not the truth of a session.
 */

import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  write,
} from "node:fs";
import { join } from "node:path";

import { checkedLine, frameOpen, replaceFile, splitLines } from "../../base/files/index.ts";
import { codeOf, isObject, type JsonObject, tryParseJson } from "../../base/support/index.ts";

/** Where a line is. */
export interface Location {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

/** A segment that has grown this long is followed by a new one. */
const SEGMENT_BYTES = 64 * 1024 * 1024;
/** A power loss may cost what was written in this time. */
const SYNC_MS = 100;
/** How often a full or read-only disk is tried again. */
const RETRY_MS = 5000;
const NAME = /^(\d+)-[0-9a-z]+-\d{4}\.jsonl$/;

/** Appends lines to a segment of this process. `append` resolves when the lines have left the process. */
export class SegmentWriter {
  readonly #folder: string;
  readonly #name: string;
  #file: number | undefined;
  #path = "";
  #number = 0;
  #size = 0;
  #queue: Buffer[] = [];
  #writing: Promise<void> | undefined;
  #syncing: NodeJS.Timeout | undefined;
  #failedAt: number | undefined;
  #problem: unknown;

  constructor(folder: string, started: number) {
    this.#folder = folder;
    this.#name = `${process.pid}-${Math.trunc(started).toString(36)}`;
  }

  /** Why nothing can be written now; undefined if all is well. */
  get problem(): unknown {
    return this.#problem;
  }

  /** Where the line will be; undefined if it cannot be written. */
  append(record: object, more = ""): { readonly at: Location; readonly written: Promise<void> } | undefined {
    if (!this.#ready()) return undefined;
    const line = frameOpen(`${JSON.stringify(record).slice(0, -1)}${more}`);
    const at = { file: this.#path, offset: this.#size, length: line.length };
    this.#size += line.length;
    this.#queue.push(line);
    this.#writing ??= this.#flush();
    return { at, written: this.#writing };
  }

  async close(): Promise<void> {
    await this.#writing;
    clearTimeout(this.#syncing);
    if (this.#file === undefined) return;
    await synced(this.#file);
    closeSync(this.#file);
    this.#file = undefined;
  }

  #ready(): boolean {
    if (this.#failedAt !== undefined && performance.now() - this.#failedAt < RETRY_MS) return false;
    if (this.#file !== undefined && this.#size < SEGMENT_BYTES && this.#isThere()) return true;
    try {
      this.#open();
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** Somebody may have removed the folder. */
  #isThere(): boolean {
    return existsSync(this.#path);
  }

  #open(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#number += 1;
    this.#path = join(this.#folder, `${this.#name}-${String(this.#number).padStart(4, "0")}.jsonl`);
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_APPEND;
    this.#file = openSync(this.#path, flags | (constants.O_NOFOLLOW ?? 0), 0o600);
    this.#size = 0;
    this.#failedAt = undefined;
    this.#problem = undefined;
  }

  /** Everything that came in the meantime goes out with one call. */
  async #flush(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0 && this.#file !== undefined) {
      const bytes = Buffer.concat(this.#queue);
      this.#queue = [];
      try {
        await writtenWhole(this.#file, bytes);
        this.#syncSoon(this.#file);
      } catch (error) {
        this.#fail(error);
        break;
      }
    }
    this.#queue = [];
    this.#writing = undefined;
  }

  #fail(error: unknown): void {
    this.#problem = error;
    this.#failedAt = performance.now();
    // What follows goes to a new segment: the end of this one may be torn.
    const file = this.#file;
    this.#file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch {
      // The disk has failed already.
    }
  }

  #syncSoon(file: number): void {
    if (this.#syncing !== undefined) return;
    this.#syncing = setTimeout(() => {
      this.#syncing = undefined;
      if (this.#file === file) void synced(file);
    }, SYNC_MS);
    this.#syncing.unref();
  }
}

async function writtenWhole(file: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const rest = bytes.subarray(at);
    at += await new Promise<number>((resolve, reject) => {
      write(file, rest, (error, count) => (error === null ? resolve(count) : reject(error)));
    });
  }
}

function synced(file: number): Promise<void> {
  return new Promise((resolve) => {
    fdatasync(file, () => resolve());
  });
}

/** A line of a ledger, and where it is. `head` is the record without the texts of its thoughts. */
export interface FoundLine {
  readonly at: Location;
  readonly head: JsonObject;
}

/** A line of a ledger that cannot be read. */
export interface LedgerDamage {
  readonly file: string;
  readonly byte: number;
}

/** Where the texts of a group begin; they are not needed to find it. */
export const RAW_KEY = ',"raw":[';

/** Reads every line of every segment. `wanted` looks at the beginning of a line, to skip it unread. */
export function* readSegments(
  folder: string,
  damage: LedgerDamage[],
  wanted: (line: Buffer) => boolean = () => true,
): Generator<FoundLine> {
  for (const name of segmentNames(folder)) {
    const file = join(folder, name);
    const bytes = readFileSync(file);
    for (const { at, line } of splitLines(bytes)) {
      if (!wanted(line)) continue;
      const text = checkedLine(line);
      const cut = text?.indexOf(RAW_KEY) ?? -1;
      const head =
        text === undefined ? undefined : tryParseJson(cut === -1 ? text : `${text.slice(0, cut)}}`);
      if (isObject(head)) yield { at: { file, offset: at, length: line.length }, head };
      else damage.push({ file: name, byte: at });
    }
  }
}

/** In order of their age, as far as their clocks tell. */
export function segmentNames(folder: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => NAME.test(name));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
  return names
    .map((name) => ({ name, time: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => a.time - b.time || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

/** The process that writes to a segment, if it may be alive. A number that was reused counts as alive. */
export function writerOf(name: string): number | undefined {
  const pid = Number(NAME.exec(name)?.[1] ?? 0);
  if (pid === process.pid) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return codeOf(error) === "EPERM" ? pid : undefined;
  }
}

/** The texts of the thoughts of a group, in order. */
export function readRaw({ file, offset, length }: Location): readonly string[] {
  const descriptor = openSync(file, "r");
  try {
    if (fstatSync(descriptor).size < offset + length - 1) return [];
    const bytes = Buffer.alloc(length);
    const count = readSync(descriptor, bytes, 0, length, offset);
    const line = bytes.subarray(0, count);
    const text = checkedLine(line.at(-1) === 0x0a ? line.subarray(0, -1) : line);
    const cut = text?.indexOf(RAW_KEY) ?? -1;
    if (text === undefined || cut === -1) return [];
    const raw = tryParseJson(text.slice(cut + RAW_KEY.length - 1, -1));
    return Array.isArray(raw) ? raw.map(String) : [];
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a segment anew without some of its lines, complete or not at all. Returns how many lines went. */
export function rewriteSegment(folder: string, name: string, keep: (head: JsonObject) => boolean): number {
  const path = join(folder, name);
  const kept: Buffer[] = [];
  let gone = 0;
  for (const { line } of splitLines(readFileSync(path))) {
    const text = checkedLine(line);
    const cut = text?.indexOf(RAW_KEY) ?? -1;
    const head = text === undefined ? undefined : tryParseJson(cut === -1 ? text : `${text.slice(0, cut)}}`);
    if (isObject(head) && keep(head)) kept.push(line, NEWLINE);
    else gone += 1;
  }
  if (gone === 0) return 0;
  if (kept.length === 0) rmSync(path);
  else replaceFile(path, Buffer.concat(kept));
  return gone;
}

const NEWLINE = Buffer.from("\n");
