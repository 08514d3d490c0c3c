/**
 * Limits the size of a log. A log is read in pieces, but the head of each of its events stays in memory, so a log
 * without a limit could not be opened one day. A writer begins no new turn once only a quarter of the limit is left. A
 * turn in progress may use the quarter except its last part, which is reserved for the events that close the turn. The
 * session then ends in a state that can be opened, shown, forked and compacted.
 *
 * What is read or written in one piece has a lower limit: an export, a copy, an import. Node 20 and 24 read at most 2
 * GiB - 1 byte of a file at once (`ERR_FS_FILE_TOO_LARGE`).
 */

import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { getHeapStatistics } from "node:v8";

import type { EventDraft } from "../../base/events/index.ts";
import { codedError, ThroughlineError } from "../../base/support/index.ts";

/** The largest log that this version opens. The heads of its events take some 3.5 GB, and V8 has 4 GB by default. */
export const LARGEST_LOG_BYTES = 2 ** 33;

/** What the head of an event takes with everything that the folds keep of it: 308 bytes were measured. */
const HEAD_BYTES = 320;

/** The most events that fit into this process; with more, V8 ends it without a word. The rest is for other things. */
export function mostEvents(heapBytes = getHeapStatistics().heap_size_limit): number {
  return Math.floor((0.85 * heapBytes) / HEAD_BYTES);
}

/** Called while a log is read: its size does not say how many events it has. */
export function assertFits(events: number, most: number, session: string): void {
  if (events <= most) return;
  throw codedError(
    LOG_TOO_LARGE,
    `session "${session}" is too large to open: it has more than ${most} events, and this process has no memory for more. Nothing was changed. Give it more and try again, for example NODE_OPTIONS=--max-old-space-size=8192`,
  );
}

/** The largest log that is read or written in one piece. */
export const LARGEST_WHOLE_BYTES = 2 ** 31 - 1;

export const LOG_TOO_LARGE = "log_too_large";

/** `begin` needs room for a whole turn, `go_on` for the turn in progress, `close` only for itself. */
type Need = "begin" | "go_on" | "close";

export class LogSize {
  readonly #session: string;
  readonly #largest: number;
  #warned = false;

  constructor(session: string, largest = LARGEST_LOG_BYTES) {
    this.#session = session;
    this.#largest = largest;
  }

  /** Throws if a file of that size cannot be read whole. */
  assertReadable(bytes: number): void {
    if (bytes > this.#largest) throw tooLargeToOpen(`session "${this.#session}"`, bytes, this.#largest);
  }

  /** Why nothing new can begin in a log of that size, or undefined while there is room. */
  refusal(size: number, need: Need = "begin"): ThroughlineError | undefined {
    const most = this.#mostFor(need);
    if (size <= most) return undefined;
    const id = this.#session;
    const reason =
      need === "begin"
        ? `it would have ${inMiB(size)}. A turn can begin only up to ${inMiB(most)}, because this version opens at most ${inMiB(this.#largest)}`
        : `it would have ${inMiB(size)}, but this version opens at most ${inMiB(this.#largest)}`;
    return new ThroughlineError({
      code: LOG_TOO_LARGE,
      message: `the log of session "${id}" is too large to continue: ${reason}. Nothing was written. Continue in a smaller copy: throughline compact ${id}, then throughline fork ${id} --compacted`,
      details: { bytes: size, most, largest: this.#largest },
    });
  }

  /** Checks an append as a whole. The draft that needs the most room decides. */
  assertRoom(size: number, drafts: readonly EventDraft[]): void {
    const needs = new Set(drafts.map(needOf));
    const need = needs.has("begin") ? "begin" : needs.has("go_on") ? "go_on" : "close";
    const refused = this.refusal(size, need);
    if (refused !== undefined) throw refused;
  }

  /** Warns once while a log is open, together with a person's message, long before anything is refused. */
  warning(size: number, drafts: readonly EventDraft[]): readonly EventDraft[] {
    const byPerson = drafts.some((draft) => draft.type === "user_message" && draft.by === "person");
    if (this.#warned || !byPerson || size <= this.#largest / 2) return [];
    this.#warned = true;
    const most = inMiB(this.#mostFor("begin"));
    const message = `the log of this session has ${inMiB(size)}; above ${most} no new turn can begin. To continue in a smaller copy: throughline compact ${this.#session}, then throughline fork ${this.#session} --compacted`;
    return [{ type: "notice", code: "log_large", message }];
  }

  #mostFor(need: Need): number {
    if (need === "begin") return Math.floor(this.#largest * (3 / 4));
    return need === "go_on" ? Math.floor(this.#largest * (127 / 128)) : this.#largest;
  }
}

const CLOSES: ReadonlySet<EventDraft["type"]> = new Set([
  "branch",
  "compaction",
  "notice",
  "response_end",
  "tool_result",
  "turn_end",
]);

function needOf(draft: EventDraft): Need {
  if (CLOSES.has(draft.type)) return "close";
  if (draft.type === "user_message" && draft.steer !== undefined) return "go_on"; // the turn has already begun
  const begins = draft.type === "user_message" || draft.type === "response_start";
  // Compaction is the way to a smaller copy, so it may use the reserve.
  return begins && draft.purpose !== "compaction" ? "begin" : "go_on";
}

/** Reads a whole log or export. `what` names it in the error; a file that is too large is refused before it is read. */
export function readWholeFile(file: string | number, what: string, largest = LARGEST_WHOLE_BYTES): Buffer {
  const open = typeof file === "number" ? file : openSync(file, "r");
  try {
    const { size } = fstatSync(open);
    if (size > largest) throw tooLargeToOpen(what, size, largest);
    return readFileSync(open);
  } finally {
    if (open !== file) closeSync(open);
  }
}

/** Called before a whole session is written. */
export function assertWritable(lines: Uint8Array, session: string): void {
  if (lines.length <= LARGEST_WHOLE_BYTES) return;
  throw codedError(
    LOG_TOO_LARGE,
    `session "${session}" would have a log of ${inMiB(lines.length)}, but this version writes at most ${inMiB(LARGEST_WHOLE_BYTES)} at once. Nothing was written`,
  );
}

/** Called before all lines of a log are read into one buffer. */
export function assertWhole(bytes: number, session: string): void {
  if (bytes <= LARGEST_WHOLE_BYTES) return;
  throw codedError(
    LOG_TOO_LARGE,
    `session "${session}" is too large to be copied or exported: its log has ${inMiB(bytes)}, and this version takes at most ${inMiB(LARGEST_WHOLE_BYTES)}. Nothing was written. Make a smaller copy first: throughline compact ${session}, then throughline fork ${session} --compacted`,
  );
}

function tooLargeToOpen(what: string, bytes: number, largest: number): ThroughlineError {
  return new ThroughlineError({
    code: LOG_TOO_LARGE,
    message: `${what} is too large to open: it has ${inMiB(bytes)}, but this version opens at most ${inMiB(largest)}. Nothing was changed. Other programs can read it, since each line is JSON; "sessions rm" removes it`,
    details: { bytes, largest },
  });
}

function inMiB(bytes: number): string {
  return bytes < 10 * 2 ** 20 ? `${bytes} bytes` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
