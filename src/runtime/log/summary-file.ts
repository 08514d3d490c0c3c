/**
 * `<id>.summary` next to the log: what lists show of a session, so that they need not read its log. It is disposable:
 * if it is missing or wrong, it is rebuilt from the log; if it cannot be written, lists work without it. No request is
 * ever made from it.
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { setImmediate } from "node:timers/promises";

import { headsOf, type LoggedEvent } from "../../base/events/index.ts";
import { codeOf } from "../../base/support/index.ts";
import { SessionFacts, type StoredSummary, summaryOf } from "../facts/index.ts";
import { type LogState, parseSummary, summaryLine } from "./summary-line.ts";
import { UNFINISHED } from "./whole-file.ts";

export const SUMMARY = ".summary";

/** About 30,000 requests. A larger summary is not kept; the session is read from its log. */
const LARGEST_BYTES = 1024 * 1024;

/** State of the file itself, not of a link's target. Undefined if there is none or it cannot be examined. */
export function stateOfLog(path: string): LogState | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/**
 * Returns undefined if there is no summary of this session in this state. Does not wait for a pipe or follow a link.
 */
export function readSummary(log: string, session: string, state: LogState): StoredSummary | undefined {
  let file: number | undefined;
  try {
    file = openSync(summaryPath(log), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    // Reading anything but a file yields no bytes or, for a folder, an error.
    const read = readSync(file, firstBytes, 0, firstBytes.length, 0);
    const bytes = read < firstBytes.length ? firstBytes.subarray(0, read) : wholeOf(file);
    return bytes === undefined ? undefined : parseSummary(bytes, session, state);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Shared: a list of thousands would otherwise allocate as many. Most summaries have a few hundred bytes. */
const firstBytes = Buffer.allocUnsafeSlow(16 * 1024);

function wholeOf(file: number): Buffer | undefined {
  const { size } = fstatSync(file);
  if (size > LARGEST_BYTES) return undefined;
  const bytes = Buffer.allocUnsafe(size);
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
}

/**
 * Writes under another name first, so that no reader sees half of it and nothing is written through a link. Not synced:
 * after a loss of power, an incomplete summary fails its checksum.
 */
export function writeSummary(
  log: string,
  session: string,
  state: LogState,
  summary: StoredSummary,
  spare?: SpareFile,
): void {
  const path = summaryPath(log);
  const unfinished = `${path}${UNFINISHED}`;
  try {
    const line = summaryLine(session, state, summary);
    if (line.length > LARGEST_BYTES) return;
    const file = spareAs(unfinished, spare) ?? made(unfinished);
    try {
      for (let done = 0; done < line.length;) done += writeSync(file, line, done);
    } finally {
      closeSync(file);
    }
    renameSync(unfinished, path);
    // It may contain something that was erased meanwhile, or belong to a log that was removed.
    if (stateOfLog(log)?.ino !== state.ino) rmSync(path, { force: true });
  } catch {
    discard(unfinished);
  }
}

/** Undefined if there is none, or if something else was put in its place. */
function spareAs(path: string, spare: SpareFile | undefined): number | undefined {
  if (spare?.giveAs(path) !== true) return undefined;
  const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const found = fstatSync(file);
  if (found.isFile() && found.size === 0 && found.nlink === 1) return file;
  closeSync(file);
  return undefined;
}

/** The name is unique to this process, so an existing file was left by an earlier attempt. */
function made(path: string): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    rmSync(path, { force: true });
    return openSync(path, flags, 0o600);
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next holder of the session's lock removes it (leftovers.ts).
  }
}

function summaryPath(log: string): string {
  return log.replace(/\.jsonl$/, SUMMARY);
}

/** An empty file that nobody needs any more, such as the scratch journal of a response that has ended. */
export interface SpareFile {
  /** Gives it away under this name. Returns false if there is none. */
  giveAs(path: string): boolean;
}

export interface WrittenLog {
  readonly file: number | undefined;
  readonly size: number;
}

/** A few milliseconds of work. */
const COUNTED_AT_ONCE = 8 * 1024;

/** Keeps the summary of a writer's log up to date. Counts nothing until first asked to. */
export class SummaryKeeper {
  readonly #log: string;
  readonly #session: string;
  readonly #spare: SpareFile;
  /** The number of events the summary covers. Earlier events are another writer's concern. */
  #kept: number;
  #facts: SessionFacts | undefined;

  constructor(log: string, session: string, events: number, spare: SpareFile) {
    this.#log = log;
    this.#session = session;
    this.#spare = spare;
    this.#kept = events;
  }

  /**
   * `written` has the file of the log, if it is open, and its length with all of `events`. Resolves only if there was
   * much to count: the event loop is free between two parts of it.
   */
  keep(events: readonly LoggedEvent[], written: () => WrittenLog): Promise<void> | undefined {
    const { file, size } = written();
    if (file === undefined || events.length === this.#kept) return undefined;
    try {
      this.#facts ??= new SessionFacts();
      if (events.length > this.#facts.lastSeq + 1 + COUNTED_AT_ONCE)
        return this.#countAhead(events, this.#facts).then(() => this.keep(events, written));
      this.#kept = events.length;
      const state = fstatSync(file, { bigint: true });
      if (state.size !== BigInt(size)) return undefined; // another process writes to it
      this.#facts.addHeads(headsOf(events), this.#facts.lastSeq + 1);
      writeSummary(this.#log, this.#session, state, summaryOf(this.#facts), this.#spare);
    } catch {
      // The events are in the log, so a list reads them from there.
    }
    return undefined;
  }

  async #countAhead(events: readonly LoggedEvent[], facts: SessionFacts): Promise<void> {
    const heads = headsOf(events);
    while (heads.length > facts.lastSeq + 1 + COUNTED_AT_ONCE) {
      const from = facts.lastSeq + 1;
      facts.addHeads(heads, from, from + COUNTED_AT_ONCE);
      await setImmediate();
    }
  }
}
