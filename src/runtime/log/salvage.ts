/**
 * Saves the undamaged part of a log: every line whose checksum matches, before and after the damage, byte for byte.
 * A notice takes the number of each lost line, so numbers still refer to the same events. A response that lost a line
 * may be incomplete: overrides at the end keep its ids and its reasoning out of requests. The original is not touched.
 */

import {
  type EventDraft,
  isItemEvent,
  type LoggedEvent,
  type ResponseStart,
  parseCheckedLine,
} from "../../base/events/index.ts";
import { checkedLine, LF, splitLines } from "../../base/files/index.ts";
import { type Clock, codedError, messageOf, systemClock } from "../../base/support/index.ts";
import { readable, startsOf, withoutReasoning } from "./erase.ts";
import { assertFormat, frameLine } from "./line-framing.ts";
import { createStamper, nextEpoch } from "./stamp.ts";

/** A range of the file that is not in the copy. */
export interface LostStretch {
  /** Counted from 1. */
  readonly line: number;
  readonly byte: number;
  readonly bytes: number;
  readonly problem: string;
  /** The numbers of the events that were there. At the end of the file more may have been lost. */
  readonly seqs: readonly number[];
}

export interface SalvagedLog {
  /** The copy: complete lines with contiguous numbers. If nothing is wrong, exactly the original bytes. */
  readonly lines: Buffer;
  readonly events: readonly LoggedEvent[];
  readonly lost: readonly LostStretch[];
  /** Responses that are sent from now on without their ids and reasoning. */
  readonly loosened: readonly string[];
}

interface Line {
  readonly number: number;
  readonly byte: number;
  readonly raw: Buffer;
  /** Undefined if the line is damaged. */
  readonly event: LoggedEvent | undefined;
}

/** Whether anything can be saved. */
export function holdsWholeLine(bytes: Buffer): boolean {
  return readLines(bytes).some(({ event }) => event !== undefined);
}

export function salvageLog(
  bytes: Buffer,
  options: { readonly session: string; readonly clock?: Clock },
): SalvagedLog {
  const lines = readLines(bytes);
  const whole = lines.flatMap(({ event }) => event ?? []);
  if (whole.length === 0) {
    throw codedError(
      "log_unsalvageable",
      "no line of this file is a complete event, so there is nothing to save",
    );
  }
  assertFormat(whole, options.session);
  const { kept, lost } = chain(lines, whole);
  const stamper = createStamper(options.clock ?? systemClock);
  const pieces: Buffer[] = [];
  const events: LoggedEvent[] = [];
  for (const { line, fill, stretch } of kept) {
    const drafts = fill.map((seq) => placeholderFor(seq, options.session, line.event, stretch));
    for (const event of stamper.stamp(drafts, events.length, events.at(-1)?.epoch ?? line.event.epoch)) {
      pieces.push(frameLine(event));
      events.push(event);
    }
    pieces.push(Buffer.concat([line.raw, LF]));
    events.push(line.event);
  }
  const loosened = damagedResponses(events, new Set(lost.flatMap(({ seqs }) => seqs)));
  const closing = lost.length === 0 ? [] : closingDrafts(loosened, lost);
  for (const event of stamper.stamp(closing, events.length, nextEpoch(events))) {
    pieces.push(frameLine(event));
    events.push(event);
  }
  return {
    lines: lost.length === 0 ? bytes : Buffer.concat(pieces),
    events,
    lost,
    loosened: loosened.map(({ response }) => response),
  };
}

function readLines(bytes: Buffer): readonly Line[] {
  const lines: Line[] = [];
  for (const { at, line: raw, ended } of splitLines(bytes)) {
    const event = ended ? eventOf(raw) : undefined;
    const line = { number: (lines.at(-1)?.number ?? 0) + 1, byte: at, raw, event };
    lines.push(line, ...(event === undefined ? completeLinesIn(line) : []));
  }
  return lines;
}

/**
 * Finds complete lines inside a damaged one. This happens when a line break was lost or the text before them was
 * overwritten.
 */
function completeLinesIn({ number, byte, raw }: Line): readonly Line[] {
  const found: Line[] = [];
  // Searches bytes: a damaged line may be longer than the longest string.
  for (let start = find(raw, HEAD, 0); start !== -1;) {
    const sum = find(raw, SUM, start);
    if (sum === -1) break;
    const end = sum + SUM.whole;
    const part = raw.subarray(start, end);
    const event = eventOf(part);
    if (event !== undefined) found.push({ number, byte: byte + start, raw: part, event });
    start = find(raw, HEAD, end);
  }
  return found;
}

interface Mark {
  readonly begin: Buffer;
  /** Matches the mark and what follows it, at most `whole` bytes. */
  readonly pattern: RegExp;
  readonly whole: number;
}

const HEAD: Mark = { begin: Buffer.from('{"v":'), pattern: /^\{"v":\d+,"seq":/, whole: 32 };
const SUM: Mark = { begin: Buffer.from(',"sum":"'), pattern: /^,"sum":"[0-9a-f]{8}"\}$/, whole: 18 };

function find(bytes: Buffer, { begin, pattern, whole }: Mark, from: number): number {
  let at = bytes.indexOf(begin, from);
  while (at !== -1 && !pattern.test(bytes.toString("latin1", at, at + whole)))
    at = bytes.indexOf(begin, at + 1);
  return at;
}

function eventOf(raw: Buffer): LoggedEvent | undefined {
  const text = checkedLine(raw);
  return text === undefined ? undefined : readable(text);
}

interface Kept {
  readonly line: Line & { readonly event: LoggedEvent };
  /** The missing numbers before it. */
  readonly fill: readonly number[];
  readonly stretch: LostStretch | undefined;
}

/** No gap can hold more lines than this; a number further ahead comes from another file. */
const LONGEST_GAP = 1_000_000;

/** Keeps the lines that continue each other. Everything between them is lost. */
function chain(
  lines: readonly Line[],
  whole: readonly LoggedEvent[],
): { readonly kept: readonly Kept[]; readonly lost: readonly LostStretch[] } {
  const kept: Kept[] = [];
  const lost: LostStretch[] = [];
  let seq = 0;
  let epoch = 0;
  let read = 0;
  let pending: Line[] = [];
  const close = (seqs: readonly number[]): LostStretch | undefined => {
    const [first] = pending;
    if (first === undefined && seqs.length === 0) return undefined;
    const last = pending.at(-1);
    const from = first ?? kept.at(-1)?.line;
    const stretch: LostStretch = {
      line: from?.number ?? 1,
      byte: from?.byte ?? 0,
      bytes: first === undefined || last === undefined ? 0 : last.byte + last.raw.length - first.byte,
      problem: problemOf(pending, seq),
      seqs,
    };
    lost.push(stretch);
    pending = [];
    return stretch;
  };
  for (const line of lines) {
    const { event } = line;
    if (event !== undefined) read += 1;
    // A number ahead of its turn is right if the lines in between are lost, and wrong if they follow later.
    const ahead =
      event !== undefined && event.seq > seq && whole.slice(read, read + 1000).some((one) => one.seq === seq);
    const fits =
      event !== undefined &&
      event.seq >= seq &&
      event.epoch >= epoch &&
      event.seq - seq < LONGEST_GAP &&
      !ahead;
    if (!fits) {
      pending.push(line);
      continue;
    }
    const fill = Array.from({ length: event.seq - seq }, (_, index) => seq + index);
    kept.push({ line: { ...line, event }, fill, stretch: close(fill) });
    seq = event.seq + 1;
    epoch = event.epoch;
  }
  close([]);
  return { kept, lost };
}

function problemOf(pending: readonly Line[], seq: number): string {
  const [first] = pending;
  if (first === undefined) return `event ${seq} is missing`;
  if (first.event !== undefined) return `event ${first.event.seq} is where event ${seq} should be`;
  if (first.raw.includes(0x00)) return "zeros where a line should be";
  const text = checkedLine(first.raw);
  return text === undefined ? "the checksum does not match" : fieldProblem(text);
}

/** What the reader refuses in a line whose checksum is right. */
function fieldProblem(text: string): string {
  try {
    parseCheckedLine(text);
    return "it is not part of this log";
  } catch (error) {
    return messageOf(error);
  }
}

/** Replaces a lost line. The first event of a log names its session, so that one is rebuilt. */
function placeholderFor(
  seq: number,
  session: string,
  next: LoggedEvent,
  stretch: LostStretch | undefined,
): EventDraft & { readonly at: string } {
  if (seq === 0)
    return { type: "session_start", session, root: session, writer: "throughline/repair", at: next.at };
  const where = stretch === undefined ? "" : ` at line ${stretch.line}, byte ${stretch.byte}`;
  return {
    type: "notice",
    code: "line_lost",
    message: `event ${seq} was lost because the log was damaged${where}`,
    at: next.at,
  };
}

/** Responses that were open when a line was lost, or with a lost line before their last item. */
function damagedResponses(
  events: readonly LoggedEvent[],
  lost: ReadonlySet<number>,
): readonly ResponseStart[] {
  if (lost.size === 0) return [];
  const ends = new Map<string, number>();
  const lastItem = new Map<string, number>();
  for (const event of events) {
    if (event.type === "response_end") ends.set(event.response, event.seq);
    if (isItemEvent(event)) lastItem.set(event.response, event.seq);
  }
  return [...startsOf(events).values()].filter(({ seq, response }) => {
    const end = ends.get(response) ?? lastItem.get(response) ?? seq;
    return [...lost].some((one) => one > seq && one <= end);
  });
}

function closingDrafts(
  loosened: readonly ResponseStart[],
  lost: readonly LostStretch[],
): readonly EventDraft[] {
  const cause = { code: "log_damaged", message: "a line of this response was lost" } as const;
  const events = lost.reduce((sum, { seqs }) => sum + seqs.length, 0);
  return [
    ...loosened.map((start) => withoutReasoning(start, cause)),
    {
      type: "notice",
      code: "log_repaired",
      message: `this log is a repaired copy: ${events} events in ${lost.length} places were lost`,
    },
  ];
}
