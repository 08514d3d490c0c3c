/**
 * Every stream, in every dialect, cut after any byte, split at any byte, and with any event omitted, doubled, swapped
 * or corrupted: the same events, or an end that says that something is missing. Always exactly one end, and never an
 * exception.
 */

import { isDeepStrictEqual } from "node:util";

import { afterAll, describe, expect, test } from "vitest";

import { driverOf } from "../../src/runtime/providers/dialects.ts";
import type { ItemDraft, StreamEnd, StreamEvent } from "../../src/runtime/providers/index.ts";
import { SseDecoder } from "../../src/runtime/wire/index.ts";
import { type Answer, type Piece, SPEAKERS, type Speaker } from "../contracts/dialects/speakers.ts";
import { Tally } from "../support/runs.ts";
import { EXHAUSTIVE, PATIENCE_MS, someOf } from "./how-much.ts";

const tally = new Tally();
afterAll(() => tally.print(`streams (${EXHAUSTIVE ? "all" : "a sample"})`));

const thought = (text: string): Piece => ({ kind: "thought", text, payload: `payload of ${text}==` });
const say = (text: string): Piece => ({ kind: "text", text });
const call = (id: string, city: string): Piece => ({
  kind: "call",
  id,
  name: "get_weather",
  arguments: `{"city":"${city}","note":"ü 😀 \\u2028 \\\\"}`,
});

const ANSWERS: readonly Answer[] = [
  {
    pieces: [thought("**Thinking** about Grüße 👋"), say("Grüße, \u2028 “Ada” 👋\n\ndata: x")],
    ending: "stop",
  },
  { pieces: [thought("Which cities?"), call("call_1", "Paris"), call("call_2", "Røm")], ending: "calls" },
  { pieces: [thought("Say it first."), say("Let me look."), call("call_1", "Oslo")], ending: "calls" },
  { pieces: [thought("A very long thought"), say("that is cut off by the limi")], ending: "length" },
  { pieces: [say("I cannot say that.")], ending: "refusal" },
  { pieces: [thought("It breaks"), say("in the mid")], ending: "error" },
  { pieces: [thought("New"), { kind: "unknown" }, say("things")], ending: "stop" },
];

const NEWLINES = { LF: "\n", CRLF: "\r\n", CR: "\r" } as const;

function bytesOf(frames: readonly string[], newline = "\n"): Buffer {
  return Buffer.from(frames.map((data) => `data: ${data}${newline}${newline}`).join(""));
}

function decode(speaker: Speaker, chunks: readonly Uint8Array[]): readonly StreamEvent[] {
  const frames = new SseDecoder();
  const decoder = driverOf(speaker.dialect).createDecoder();
  const events = chunks.flatMap((chunk) => [...decoder.feed(frames.feed(chunk))]);
  return [...events, ...decoder.close()];
}

const itemsOf = (events: readonly StreamEvent[]): readonly ItemDraft[] =>
  events.flatMap((event) => (event.type === "item_done" ? [event.draft] : []));

/** The one end, which is the last event. */
function endOf(events: readonly StreamEvent[], where: string): StreamEnd {
  const ends = events.filter((event) => event.type === "end");
  const last = events.at(-1);
  if (ends.length !== 1 || last?.type !== "end") expect(ends, `${where}: ends`).toHaveLength(1);
  return (last as Extract<StreamEvent, { type: "end" }>).end;
}

function expectSame(got: unknown, wanted: unknown, where: string): void {
  if (!isDeepStrictEqual(got, wanted)) expect(got, where).toStrictEqual(wanted);
}

const cases = SPEAKERS.flatMap((speaker) =>
  ANSWERS.map((answer, index) => [`${speaker.dialect}, answer ${index + 1}`, speaker, answer] as const),
);

describe.each(cases)("%s", (name, speaker, answer) => {
  const frames = speaker.frames(answer);
  const whole = decode(speaker, [bytesOf(frames)]);
  const items = itemsOf(whole);
  const { status } = endOf(whole, name);

  test.each(Object.entries(NEWLINES))(
    "with %s gives the same events when split at any byte",
    (_title, newline) => {
      const bytes = bytesOf(frames, newline);
      for (const at of someOf(bytes.length + 1, 25)) {
        expectSame(decode(speaker, [bytes.subarray(0, at), bytes.subarray(at)]), whole, `split at ${at}`);
        tally.add("splits in two");
      }
      const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
      expectSame(decode(speaker, single), whole, "byte by byte");
      tally.add("byte by byte");
    },
    PATIENCE_MS,
  );

  test.each(Object.entries(NEWLINES))(
    "with %s has one end when cut after any byte, completed only if nothing that matters is missing",
    (_title, newline) => {
      const bytes = bytesOf(frames, newline);
      for (const length of someOf(bytes.length, 25)) {
        const events = decode(speaker, [bytes.subarray(0, length)]);
        const end = endOf(events, `cut after ${length}`);
        const got = itemsOf(events);
        tally.add("cuts");
        if (end.status === "completed") {
          expectSame(got, items, `completed though cut after ${length}`);
          tally.add("cuts after all that matters");
        } else expectSame(got, items.slice(0, got.length), `cut after ${length}`);
      }
    },
    PATIENCE_MS,
  );

  test("with any event omitted, doubled, swapped or corrupted has one end, and nothing invented", () => {
    for (const [index, frame] of frames.entries()) {
      const before = frames.slice(0, index);
      const after = frames.slice(index + 1);
      const [next, ...later] = after;
      const forms: readonly (readonly [string, readonly string[]])[] = [
        ["left out", [...before, ...after]],
        ["doubled", [...before, frame, frame, ...after]],
        ...(next === undefined ? [] : ([["swapped", [...before, next, frame, ...later]]] as const)),
        ...BROKEN.map(([what, broken]) => [what, [...before, broken(frame), ...after]] as const),
        ["unknown before", [...before, speaker.unknownFrame, frame, ...after]],
      ];
      for (const [what, changed] of forms) {
        const where = `event ${index} of ${frames.length} ${what}: ${frame}`;
        const events = decode(speaker, [bytesOf(changed)]);
        const end = endOf(events, where);
        tally.add(`events ${what}`);
        expectNothingInvented(itemsOf(events), items, where);
        // Responses repeats every item whole at its end, so a completed answer has them unchanged, or lacks some.
        if (speaker.dialect === "openai-responses" && end.status === "completed")
          for (const item of itemsOf(events)) expect(items, where).toContainEqual(item);
        if (status !== "completed") expect(end.status, where).not.toBe("completed");
      }
    }
  });

  test("with any two events omitted has one end", () => {
    const pairs = frames.length * frames.length;
    for (const pair of someOf(pairs, 40)) {
      const drop = new Set([Math.floor(pair / frames.length), pair % frames.length]);
      const events = decode(speaker, [bytesOf(frames.filter((_, index) => !drop.has(index)))]);
      expectNothingInvented(itemsOf(events), items, `without ${[...drop].join(" and ")}`);
      endOf(events, `without ${[...drop].join(" and ")}`);
      tally.add("two events left out");
    }
  });
});

const BROKEN: readonly (readonly [string, (frame: string) => string])[] = [
  ["cut in half", (frame) => frame.slice(0, Math.floor(frame.length / 2))],
  ["null instead", () => "null"],
  ["a list instead", () => "[1,2]"],
  ["a number instead", () => "7"],
  ["empty object instead", () => "{}"],
  ["its values null", (frame) => frame.replaceAll(/:("[^"]*"|\d+)/g, ":null")],
  ["its values numbers", (frame) => frame.replaceAll(/:"[^"]*"/g, ":1")],
];

/** A call may be missing or truncated, but an invented call must not be there. */
function expectNothingInvented(got: readonly ItemDraft[], said: readonly ItemDraft[], where: string): void {
  const ids = new Set(said.flatMap((item) => (item.type === "tool_call" ? [item.callId] : [])));
  const calls = got.flatMap((item) => (item.type === "tool_call" ? [item.callId] : []));
  if (new Set(calls).size !== calls.length) throw new Error(`a call twice: ${calls.join()} – ${where}`);
  for (const item of got) {
    if (item.type !== "tool_call") continue;
    if (item.name === "") throw new Error(`a call without a name – ${where}`);
    if (!ids.has(item.callId)) throw new Error(`an invented call ${item.callId} – ${where}`);
  }
}
