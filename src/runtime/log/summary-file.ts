/**
 * `<id>.summary` beside the log: what lists show of a session, so that they need not read its log. It is disposable: who
 * finds none, or a wrong one, takes it from the log; who cannot write it does without. No request is ever made from it.
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

import type { LoggedEvent } from "../../base/events/index.ts";
import { SessionFacts, type StoredSummary, summaryOf } from "../facts/index.ts";
import { type LogState, parseSummary, summaryLine } from "./summary-line.ts";
import { UNFINISHED } from "./whole-file.ts";

export const SUMMARY = ".summary";

/** Some 30,000 requests. A longer one is not kept: such a session is read from its log. */
const LARGEST_BYTES = 1024 * 1024;

/** Of the file itself, whatever a link leads to. Undefined when there is none, or none that can be looked at. */
export function stateOfLog(path: string): LogState | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Undefined: there is none of this session in this state. A pipe is not waited for, a link not followed. */
export function readSummary(log: string, session: string, state: LogState): StoredSummary | undefined {
  let file: number | undefined;
  try {
    file = openSync(summaryPath(log), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    // Nothing, of anything but a file or a folder, and a folder cannot be read.
    const read = readSync(file, firstBytes, 0, firstBytes.length, 0);
    const bytes = read < firstBytes.length ? firstBytes.subarray(0, read) : wholeOf(file);
    return bytes === undefined ? undefined : parseSummary(bytes, session, state);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** One for all: a list of thousands would leave as many behind. Most summaries have some hundred bytes. */
const firstBytes = Buffer.allocUnsafeSlow(16 * 1024);

function wholeOf(file: number): Buffer | undefined {
  const { size } = fstatSync(file);
  if (size > LARGEST_BYTES) return undefined;
  const bytes = Buffer.allocUnsafe(size);
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
}

/**
 * Under another name first, so that nobody reads half of one and nothing is written through a link of either kind. Not
 * synced: what a loss of power leaves of it has no checksum that fits.
 */
export function writeSummary(log: string, session: string, state: LogState, summary: StoredSummary): void {
  const path = summaryPath(log);
  const unfinished = `${path}${UNFINISHED}`;
  try {
    const line = summaryLine(session, state, summary);
    if (line.length > LARGEST_BYTES) return;
    rmSync(unfinished, { force: true });
    writeNew(unfinished, line);
    renameSync(unfinished, path);
    // It may tell what was erased meanwhile, or stand beside a log that was removed.
    if (stateOfLog(log)?.ino !== state.ino) rmSync(path, { force: true });
  } catch {
    discard(unfinished);
  }
}

function writeNew(path: string, line: Buffer): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = openSync(path, flags, 0o600);
  try {
    for (let done = 0; done < line.length;) done += writeSync(file, line, done);
  } finally {
    closeSync(file);
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next who holds the session's lock removes it (leftovers.ts).
  }
}

export function summaryPath(log: string): string {
  return log.replace(/\.jsonl$/, SUMMARY);
}

/** Keeps the summary of a log that is open to write in step with it. Nothing is counted before it is first asked to. */
export class SummaryKeeper {
  readonly #log: string;
  readonly #session: string;
  /** How many events it has seen to: what was there before is another's. */
  #kept: number;
  #facts: SessionFacts | undefined;

  constructor(log: string, session: string, events: number) {
    this.#log = log;
    this.#session = session;
    this.#kept = events;
  }

  /** `file` is the log, `size` its length with all of `events`. */
  keep(events: readonly LoggedEvent[], file: number | undefined, size: number): void {
    if (file === undefined || events.length === this.#kept) return;
    this.#kept = events.length;
    try {
      const state = fstatSync(file, { bigint: true });
      if (state.size !== BigInt(size)) return; // another process writes to it
      this.#facts ??= new SessionFacts();
      this.#facts.add(events.slice(this.#facts.lastSeq + 1));
      writeSummary(this.#log, this.#session, state, summaryOf(this.#facts));
    } catch {
      // The log has what it was given: a list reads it from there.
    }
  }
}
