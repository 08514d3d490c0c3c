/**
 * Every dialect keeps the same contract: the same answer gives the same events, however the stream is cut, split or
 * corrupted.
 */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { driverOf } from "../../../src/runtime/providers/dialects.ts";
import type { StreamEnd, StreamEvent } from "../../../src/runtime/providers/index.ts";
import { SseDecoder } from "../../../src/runtime/wire/index.ts";
import { type Answer, type Piece, SPEAKERS, type Speaker } from "./speakers.ts";

const thought = (text: string, payload = `payload of ${text}`): Piece => ({ kind: "thought", text, payload });
const text = (words: string): Piece => ({ kind: "text", text: words });
const call = (id: string, args = '{"city":"Paris"}'): Piece => ({
  kind: "call",
  id,
  name: "get_weather",
  arguments: args,
});

const ANSWERS: Readonly<Record<string, Answer>> = {
  text: { pieces: [text("Hello, world.")], ending: "stop" },
  "thinking and text": { pieces: [thought("Let me see."), text("Yes.")], ending: "stop" },
  "several thoughts": { pieces: [thought("One."), thought("Two."), text("Three.")], ending: "stop" },
  "a call": { pieces: [thought("I need it."), call("call_a")], ending: "calls" },
  "interleaved thinking and tools": {
    pieces: [thought("First."), text("I look."), thought("Second."), call("call_a")],
    ending: "calls",
  },
  "parallel calls": {
    pieces: [thought("Both."), call("call_a"), call("call_b", '{"city":"Rome"}')],
    ending: "calls",
  },
  "empty arguments": { pieces: [call("call_a", "")], ending: "calls" },
  "invalid arguments": { pieces: [call("call_a", '{"city":')], ending: "calls" },
  "wide characters": { pieces: [thought("考える 👩‍👩‍👧"), text("答え\u2028\u0000 \\u0041")], ending: "stop" },
};

interface Seen {
  readonly events: readonly StreamEvent[];
  readonly end: StreamEnd | undefined;
  readonly done: readonly string[];
}

function bytesOf(frames: readonly string[]): Buffer {
  return Buffer.from(frames.map((data) => `data: ${data}\n\n`).join(""));
}

function decode(speaker: Speaker, bytes: Buffer, cuts: readonly number[] = []): Seen {
  const sse = new SseDecoder();
  const decoder = driverOf(speaker.dialect).createDecoder();
  const events: StreamEvent[] = [];
  const edges = [...new Set([0, ...cuts, bytes.length])].toSorted((a, b) => a - b);
  for (const [index, from] of edges.entries()) {
    events.push(...decoder.feed(sse.feed(bytes.subarray(from, edges[index + 1] ?? bytes.length))));
  }
  events.push(...decoder.close());
  return seen(events);
}

function seen(events: readonly StreamEvent[]): Seen {
  const ends = events.flatMap((event) => (event.type === "end" ? [event.end] : []));
  expect(ends.length).toBeLessThanOrEqual(1);
  return {
    events,
    end: ends[0],
    done: events.flatMap((event) => (event.type === "item_done" ? [wordsOf(event)] : [])),
  };
}

function wordsOf({ draft }: Extract<StreamEvent, { readonly type: "item_done" }>): string {
  if (draft.type === "reasoning") return `thought ${draft.parts.map((part) => part.text).join("|")}`;
  if (draft.type === "assistant_message") return `text ${draft.text}`;
  if (draft.type === "tool_call") return `call ${draft.callId} ${draft.name}`;
  return draft.type;
}

/** A piece as it must arrive in any dialect. */
function expected(piece: Piece): string {
  if (piece.kind === "thought") return `thought ${piece.text}`;
  return piece.kind === "text"
    ? `text ${piece.text}`
    : piece.kind === "call"
      ? `call ${piece.id} get_weather`
      : "other_item";
}

/** Chat has one field for thoughts, so neighbouring thoughts run together, and all its text is one item. */
function asSpoken(speaker: Speaker, { pieces }: Answer): readonly string[] {
  if (speaker.dialect !== "openai-chat") return pieces.map(expected);
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (piece.kind === "thought" && last?.kind === "thought")
      joined[joined.length - 1] = { ...last, text: last.text + piece.text };
    else joined.push(piece);
  }
  return joined.map(expected);
}

describe.each(SPEAKERS.map((speaker) => [speaker.dialect, speaker] as const))("%s", (_name, speaker) => {
  test.each(Object.entries(ANSWERS))("delivers %s whole, in order, with its usage", (_title, answer) => {
    const { done, end } = decode(speaker, bytesOf(speaker.frames(answer)));
    expect(done.toSorted()).toEqual(asSpoken(speaker, answer).toSorted());
    expect(end).toMatchObject({
      status: "completed",
      usage: { inputTokens: 10, cachedTokens: 4, outputTokens: 5, reasoningTokens: 2 },
    });
    expect(end?.unknown).toBeUndefined();
  });

  test("keeps items in the order in which they were generated", () => {
    const answer = ANSWERS["interleaved thinking and tools"] as Answer;
    const { events } = decode(speaker, bytesOf(speaker.frames(answer)));
    const drafts = events.flatMap((event) => (event.type === "item_done" ? [event.draft] : []));
    const inOrder = drafts.toSorted((a, b) => a.outputIndex - b.outputIndex).map((draft) => draft.type);
    expect(inOrder).toEqual(["reasoning", "assistant_message", "reasoning", "tool_call"]);
  });

  test.each([
    ["", /^(?:\{\})?$/],
    ['{"city":', /^\{"city":$/],
    ['{ "n" : 12345678901234567890 }', /^\{ "n" : 12345678901234567890 \}$/],
  ])("keeps the arguments %j exactly as written", (written, kept) => {
    const { events } = decode(
      speaker,
      bytesOf(speaker.frames({ pieces: [call("call_a", written)], ending: "calls" })),
    );
    const [draft] = events.flatMap((event) => (event.type === "item_done" ? [event.draft] : []));
    expect(draft?.type === "tool_call" ? draft.arguments : undefined).toMatch(kept);
  });

  test("has deltas that add up to the text of the finished items", () => {
    for (const answer of Object.values(ANSWERS)) {
      const { events } = decode(speaker, bytesOf(speaker.frames(answer)));
      const streamed = new Map<number, string>();
      for (const event of events) {
        if (event.type === "delta")
          streamed.set(event.outputIndex, (streamed.get(event.outputIndex) ?? "") + event.text);
        if (event.type !== "item_done") continue;
        const { draft } = event;
        const whole =
          draft.type === "reasoning"
            ? draft.parts.map((part) => part.text).join("")
            : draft.type === "assistant_message"
              ? draft.text
              : undefined;
        if (whole !== undefined) expect(streamed.get(draft.outputIndex) ?? "").toBe(whole);
      }
    }
  });

  test.each([
    ["length", { status: "incomplete", reason: "max_output_tokens" }],
    ["error", { status: "failed", error: { class: "TRUNC", message: "broken" } }],
  ] as const)("reports that an answer ended with %s", (ending, expectedEnd) => {
    expect(decode(speaker, bytesOf(speaker.frames({ pieces: [text("Half")], ending }))).end).toMatchObject(
      expectedEnd,
    );
  });

  test("does not report a refused answer as completed", () => {
    const { end } = decode(speaker, bytesOf(speaker.frames({ pieces: [text("I")], ending: "refusal" })));
    expect(end?.status).not.toBe("completed");
    expect(`${end?.reason} ${end?.error?.code}`).toMatch(/refusal|content_filter/);
  });

  test("reports a response cut after any event as cut, unless everything that completes it has arrived", () => {
    for (const answer of Object.values(ANSWERS)) {
      const frames = speaker.frames(answer);
      for (let count = 0; count < frames.length; count += 1) {
        const { end } = decode(speaker, bytesOf(frames.slice(0, count)));
        const whole = speaker.dialect === "openai-chat" && count === frames.length - 1; // only [DONE] is missing
        expect(end?.status).toBe(whole ? "completed" : "cut");
      }
    }
  });

  test("gives the same events however the bytes are split", () => {
    const bytes = bytesOf(speaker.frames(ANSWERS["wide characters"] as Answer));
    const whole = decode(speaker, bytes);
    for (let at = 1; at < bytes.length; at += 1) expect(decode(speaker, bytes, [at])).toEqual(whole);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
        expect(decode(speaker, bytes, cuts)).toEqual(whole);
      }),
    );
  });

  test("keeps or counts unknown events and items without harm", () => {
    const answer: Answer = { pieces: [thought("Hm."), { kind: "unknown" }, text("Yes.")], ending: "stop" };
    const frames = [...speaker.frames(answer)];
    frames.splice(1, 0, speaker.unknownFrame);
    const { end, done } = decode(speaker, bytesOf(frames));
    expect(end?.status).toBe("completed");
    expect(Object.values(end?.unknown ?? {}).reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(done).toEqual(expect.arrayContaining(["thought Hm.", "text Yes."]));
  });

  test("survives a duplicated, lost or swapped event: one end, no throw, and no call twice", () => {
    const answer = ANSWERS["parallel calls"] as Answer;
    const frames = speaker.frames(answer);
    const spoilt = frames.flatMap((frame, at) => [
      frames.toSpliced(at, 0, frame),
      frames.toSpliced(at, 1),
      at === 0 ? frames : frames.toSpliced(at - 1, 2, frame, frames[at - 1] as string),
    ]);
    for (const variant of spoilt) {
      const { end, events } = decode(speaker, bytesOf(variant));
      expect(end).toBeDefined();
      const calls = events.flatMap((event) =>
        event.type === "item_done" && event.draft.type === "tool_call" ? [event.draft.callId] : [],
      );
      expect(new Set(calls).size).toBe(calls.length);
      expect(calls.length).toBeLessThanOrEqual(2);
    }
  });

  test.each(["", "null", "[]", "{", '"text"', "[[[[", '{"type":5}', '{"choices":7}', '{"choices":[null]}'])(
    "does not throw on the frame %j",
    (data) => {
      const frames = speaker.frames(ANSWERS["text"] as Answer);
      expect(() => decode(speaker, bytesOf(frames.toSpliced(1, 0, data)))).not.toThrow();
    },
  );
});
