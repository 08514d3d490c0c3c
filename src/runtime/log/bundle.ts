/**
 * A session as one portable file: the lines of its log unchanged, then a line for each blob, then a line that says how
 * many of each there were. It stays greppable, and a truncated file can be distinguished from a complete one
 * (docs/log-format.md, Bundles).
 */

import { createHash } from "node:crypto";

import type { EventDraft, LoggedEvent } from "../../base/events/index.ts";
import { checkedLine, frameOpen, type RawLine, splitLines } from "../../base/files/index.ts";
import { isObject, type JsonObject, ThroughlineError, tryParseJson } from "../../base/support/index.ts";
import { assertFormat, scanLines } from "./line-framing.ts";
import type { Log } from "./log.ts";

export interface SessionBundle {
  readonly events: readonly LoggedEvent[];
  /** The lines of the log, exactly. */
  readonly lines: Buffer;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** The blobs that events name. */
export function blobsIn(events: readonly (LoggedEvent | EventDraft)[]): readonly string[] {
  const names = events.flatMap((event) => {
    const full = event.type === "tool_result" && event.blob !== undefined ? [event.blob] : [];
    return [...full, ...sentBlobsOf(event)];
  });
  return [...new Set(names)];
}

/** The blobs that requests contain: images and files of messages, images of results. */
export function sentBlobsOf(event: LoggedEvent | EventDraft): readonly string[] {
  if (event.type === "user_message")
    return event.content.flatMap((part) => ("blob" in part ? [part.blob] : []));
  return event.type === "tool_result" ? (event.parts ?? []).map(({ blob }) => blob) : [];
}

/** Reads what a log holds right now, without an unfinished end left by a crash. */
export async function readBundle(log: Log): Promise<SessionBundle> {
  const blobs = new Map<string, Uint8Array>();
  for (const name of blobsIn(log.events)) {
    const bytes = await log.getBlob(name);
    if (bytes !== undefined) blobs.set(name, bytes);
  }
  return { events: [...log.events], lines: await log.lines(), blobs };
}

export function* bundleText({ events, lines, blobs }: SessionBundle): Generator<Buffer> {
  yield lines;
  for (const [name, bytes] of blobs) {
    yield frameOpen(`{"blob":"${name}","base64":"${Buffer.from(bytes).toString("base64")}"`);
  }
  yield frameOpen(`{"end":true,"events":${events.length},"blobs":${blobs.size}`);
}

/** Whether the file has lines that only a bundle has. A log has only events. */
export function isBundle(bytes: Buffer): boolean {
  return endOfLog(bytes) < bytes.length;
}

/**
 * Parses a log as it is in a folder of sessions; the caller supplies its blobs. Nothing in a log says where it should
 * end, so an export cut off between two lines looks the same. The caller should say so.
 */
export function parsePlainLog(bytes: Buffer, blobs: ReadonlyMap<string, Uint8Array>): SessionBundle {
  return { events: eventsIn(bytes, bytes.length), lines: bytes, blobs };
}

/** Refuses anything incomplete, with its line and byte. */
export function parseBundle(bytes: Buffer): SessionBundle {
  const logEnd = endOfLog(bytes);
  const events = eventsIn(bytes, logEnd);
  return { events, lines: bytes.subarray(0, logEnd), blobs: readTail(bytes, logEnd, events) };
}

function eventsIn(bytes: Buffer, logEnd: number): readonly LoggedEvent[] {
  const lines = bytes.subarray(0, logEnd);
  const { events, goodBytes } = scanLines(lines, { offset: 0, firstSeq: 0, lowestEpoch: 0 });
  if (goodBytes < lines.length) throw damaged("the line is incomplete", events.length + 1, goodBytes);
  const [first] = events;
  if (first === undefined) throw damaged("it has no event", 1, 0);
  assertFormat(events, first.type === "session_start" ? first.session : "");
  if (first.type !== "session_start") throw damaged("it does not start with session_start", 1, 0);
  return events;
}

/** What can be read of an incomplete bundle: the lines of its log as they are, and the blobs that are intact. */
export function looseBundle(bytes: Buffer): Pick<SessionBundle, "lines" | "blobs"> {
  const logEnd = endOfLog(bytes);
  const blobs = new Map<string, Uint8Array>();
  for (const line of splitLines(bytes, logEnd)) {
    const found = blobIn(objectIn(line) ?? {});
    if (found !== undefined) blobs.set(found.name, found.content);
  }
  return { lines: bytes.subarray(0, logEnd), blobs };
}

/** Undefined if the line is incomplete or its checksum does not match. */
function objectIn({ line, ended }: RawLine): JsonObject | undefined {
  const value = ended ? tryParseJson(checkedLine(line) ?? "") : undefined;
  return isObject(value) ? value : undefined;
}

/** Undefined if it is not a blob, or its bytes do not match the hash in its name. */
function blobIn(value: JsonObject): { readonly name: string; readonly content: Buffer } | undefined {
  const { blob, base64 } = value;
  if (typeof blob !== "string" || typeof base64 !== "string") return undefined;
  const content = Buffer.from(base64, "base64");
  const whole = createHash("sha256").update(content).digest("hex") === blob;
  return whole ? { name: blob, content } : undefined;
}

/** The offset of the first line that does not belong to the log. */
function endOfLog(bytes: Buffer): number {
  for (const { at } of splitLines(bytes)) {
    const head = bytes.toString("latin1", at, at + 8);
    if (head === '{"blob":' || head.startsWith('{"end":')) return at;
  }
  return bytes.length;
}

function readTail(
  bytes: Buffer,
  from: number,
  events: readonly LoggedEvent[],
): ReadonlyMap<string, Uint8Array> {
  const blobs = new Map<string, Uint8Array>();
  let number = events.length + 1;
  for (const raw of splitLines(bytes, from)) {
    const value = objectIn(raw);
    if (value === undefined) throw damaged("the checksum does not match", number, raw.at);
    if (value["end"] === true) {
      const whole = value["events"] === events.length && value["blobs"] === blobs.size;
      if (!whole) throw damaged("lines are missing before it", number, raw.at);
      const end = raw.at + raw.line.length + 1;
      if (end < bytes.length) throw damaged("something follows the end", number + 1, end);
      return blobs;
    }
    const found = blobIn(value);
    if (found === undefined)
      throw damaged("it is not a blob, or does not match the hash in its name", number, raw.at);
    blobs.set(found.name, found.content);
    number += 1;
  }
  // A plain log looks the same; a caller that accepts one uses `parsePlainLog`.
  throw damaged("the end is missing: the file was cut off or is not an export", number, bytes.length);
}

function damaged(problem: string, line: number, byte: number): ThroughlineError {
  return new ThroughlineError({
    code: "bundle_damaged",
    message: `the file is not a complete session: line ${line}, byte ${byte}: ${problem}. Nothing was written. Export it again`,
    details: { line, byte, problem },
  });
}
