/**
 * Makes a copy of a session without a leaked secret. Every string of every line is searched, including the provider's
 * items; all other bytes stay the same and checksums are recomputed. Payloads that only the provider can read may still
 * hold the secret: such items are reported, and overrides at the end keep them and everything changed out of later
 * requests.
 */

import { createHash } from "node:crypto";

import {
  type ErrorInfo,
  type EventDraft,
  isItemEvent,
  type LoggedEvent,
  parseLine,
  type ResponseStart,
} from "../../base/events/index.ts";
import { checkedLine, frameOpen, LF, splitLines } from "../../base/files/index.ts";
import { type Clock, codedError, mapStrings, systemClock } from "../../base/support/index.ts";
import type { SessionBundle } from "./bundle.ts";
import { frameLine } from "./line-framing.ts";
import { createStamper, nextEpoch } from "./stamp.ts";

/** Returns the text without the secret, or the same text if it holds none. */
export type Replace = (text: string) => string;

export interface EraseReport {
  /** The lines that were changed, by seq, with the number of strings changed in each. */
  readonly events: readonly { readonly seq: number; readonly type: string; readonly places: number }[];
  /** The blobs that were changed: name before and after. */
  readonly blobs: readonly { readonly before: string; readonly after: string }[];
  /** Items with a payload that only the provider can read, created after the provider had seen the secret. */
  readonly opaque: readonly { readonly seq: number; readonly type: string; readonly model: string }[];
}

export interface Erased {
  readonly bundle: SessionBundle;
  readonly report: EraseReport;
}

export function eraseFrom(
  bundle: SessionBundle,
  replace: Replace,
  options: { readonly clock?: Clock } = {},
): Erased {
  const blobs = eraseBlobs(bundle.blobs, replace);
  const changed: EraseReport["events"][number][] = [];
  const lines = Array.from(splitLines(bundle.lines), ({ line }, seq) => {
    const event = bundle.events[seq];
    const text = checkedLine(line) ?? "";
    let places = 0;
    const clean = mapStrings(text, (value) => {
      const next = replace(blobs.renamed.get(value) ?? value);
      if (next !== value) places += 1;
      return next;
    });
    if (places === 0 || event === undefined) return Buffer.concat([line, LF]);
    assertSameEvent(clean, event);
    changed.push({ seq, type: event.type, places });
    return frameOpen(clean.slice(0, clean.lastIndexOf("}")));
  });
  const report: EraseReport = {
    events: changed,
    blobs: [...blobs.renamed].map(([before, after]) => ({ before, after })),
    opaque: opaqueAfter(bundle.events, changed[0]?.seq),
  };
  if (changed.length === 0) return { bundle, report };
  const added = createStamper(options.clock ?? systemClock).stamp(
    closingDrafts(bundle.events, report),
    bundle.events.length,
    nextEpoch(bundle.events),
  );
  const text = Buffer.concat([...lines, ...added.map((event) => frameLine(event))]);
  const events = Array.from(splitLines(text), ({ line }) => parseLine(line.toString("utf8")));
  return { bundle: { events, lines: text, blobs: blobs.kept }, report };
}

function eraseBlobs(
  blobs: ReadonlyMap<string, Uint8Array>,
  replace: Replace,
): { readonly kept: ReadonlyMap<string, Uint8Array>; readonly renamed: ReadonlyMap<string, string> } {
  const kept = new Map<string, Uint8Array>();
  const renamed = new Map<string, string>();
  for (const [name, bytes] of blobs) {
    const text = Buffer.from(bytes).toString("latin1"); // one character per byte, so all other bytes stay the same
    const clean = replace(text);
    const content = clean === text ? bytes : Buffer.from(clean, "latin1");
    const after = clean === text ? name : createHash("sha256").update(content).digest("hex");
    if (after !== name) renamed.set(name, after);
    kept.set(after, content);
  }
  return { kept, renamed };
}

/** A pattern that matches the envelope of an event would turn it into another event. */
function assertSameEvent(text: string, before: LoggedEvent): void {
  const after = readable(text);
  const same = (["seq", "id", "type", "turn", "response", "at"] as const).every(
    (field) => after?.[field] === before[field],
  );
  if (same) return;
  throw codedError(
    "pattern_too_wide",
    `the text to erase also matches the envelope of event ${before.seq} (its id, type, turn or time). Give more of the secret`,
  );
}

/** Returns undefined if the text is not an event, or is no longer one after a replacement. */
export function readable(text: string): LoggedEvent | undefined {
  try {
    return parseLine(text);
  } catch {
    return undefined;
  }
}

/** The model had read the secret from its first occurrence on. */
function opaqueAfter(events: readonly LoggedEvent[], first: number | undefined): EraseReport["opaque"] {
  if (first === undefined) return [];
  const starts = startsOf(events);
  return events.flatMap((event) => {
    if (event.seq < first || !isItemEvent(event)) return [];
    const opaque = event.type === "reasoning" ? event.opaque : /"encrypted_content":"/.test(event.item);
    const model = starts.get(event.response)?.origin.model ?? "";
    return opaque ? [{ seq: event.seq, type: event.type, model }] : [];
  });
}

export function startsOf(events: readonly LoggedEvent[]): ReadonlyMap<string, ResponseStart> {
  return new Map(
    events.flatMap((event) => (event.type === "response_start" ? [[event.response, event] as const] : [])),
  );
}

/** The override that sends the response to its own origin without reasoning and ids. */
export function withoutReasoning({ response, origin }: ResponseStart, cause: ErrorInfo): EventDraft {
  const what = { kind: "group", response } as const;
  return { type: "replay_override", what, action: "omit_reasoning", target: origin, cause };
}

/** Overrides every response that was changed or may hold the secret in an opaque payload. */
function closingDrafts(events: readonly LoggedEvent[], report: EraseReport): readonly EventDraft[] {
  const starts = startsOf(events);
  const seqs = new Set([...report.opaque, ...report.events].map(({ seq }) => seq));
  const touched = new Set<ResponseStart>();
  for (const event of events) {
    const start = event.response === undefined ? undefined : starts.get(event.response);
    if (start !== undefined && isItemEvent(event) && seqs.has(event.seq)) touched.add(start);
  }
  const places = report.events.reduce((sum, event) => sum + event.places, 0);
  const cause = { code: "erased", message: "a secret was erased from this session" };
  return [
    ...[...touched].map((start) => withoutReasoning(start, cause)),
    {
      type: "notice",
      code: "erased",
      message: `a secret was erased from ${places} ${places === 1 ? "place" : "places"}; ${touched.size} responses continue without their reasoning and ids`,
    },
  ];
}
