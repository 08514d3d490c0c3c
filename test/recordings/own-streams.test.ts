/** The emulator's own streams hold every event type that was ever recorded, so nothing depends on the recordings. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { RESPONSES_EVENTS } from "../../src/runtime/wire/index.ts";
import { ANSWERS, type OwnStream, ownStreams } from "./own-streams.ts";
import {
  decode,
  framed,
  present,
  readRecording,
  recordingNames,
  responsesOf,
  streamed,
} from "./recordings.ts";

/** The event types of the recordings. If the folder is present, this list is checked against it. */
const RECORDED = [
  "error",
  "response.completed",
  "response.content_part.added",
  "response.content_part.done",
  "response.created",
  "response.custom_tool_call_input.delta",
  "response.failed",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.in_progress",
  "response.output_item.added",
  "response.output_item.done",
  "response.output_text.annotation.added",
  "response.output_text.delta",
  "response.output_text.done",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.delta",
  "response.reasoning_summary_text.done",
  "response.reasoning_text.delta",
  "response.reasoning_text.done",
  "response.web_search_call.completed",
  "response.web_search_call.in_progress",
  "response.web_search_call.searching",
];

/** Recorded types that the emulator does not make: none. */
const EXCEPTIONS: readonly string[] = [];

const streams: OwnStream[] = [];

beforeAll(async () => {
  streams.push(...(await ownStreams()));
});

afterAll(() => {
  streams.length = 0;
});

const typeOf = (line: string): string => (JSON.parse(line) as { readonly type: string }).type;

test("every recorded event type is in the emulator's streams", () => {
  const own = new Set(streams.flatMap(({ lines }) => lines.map(typeOf)));
  expect(RECORDED.filter((type) => !own.has(type))).toEqual(EXCEPTIONS);
});

test.skipIf(!present)("the list of recorded event types matches the recordings", () => {
  const types = new Set<string>();
  for (const name of recordingNames(".chunks.txt")) {
    for (const [, type = ""] of readRecording(name).matchAll(/"type":"((?:response\.)[a-z_.]+|error)"/g))
      types.add(type);
  }
  expect([...types].toSorted()).toEqual(RECORDED);
  expect(RECORDED.filter((type) => !RESPONSES_EVENTS.has(type))).toEqual([]);
});

describe.each(Object.keys(ANSWERS).flatMap((name) => [name, `${name}, as reasoning text`]))("%s", (name) => {
  const stream = (): OwnStream => streams.find((one) => one.name === name) as OwnStream;

  test("decodes to the items of the stream, each with its exact text", () => {
    const { lines } = stream();
    const { items, end } = decode(framed(lines));
    const done = lines.filter((line) => typeOf(line) === "response.output_item.done");
    expect(items.map((item) => item.itemId)).toEqual(
      done.map((line) => (JSON.parse(line) as { readonly item: { readonly id: string } }).item.id),
    );
    for (const [index, item] of items.entries()) {
      const text = item.item.replaceAll("\\u2028", "\u2028"); // escaped in the log, the same character in JSON
      expect([item.item, text].some((one) => done[index]?.includes(`"item":${one}`))).toBe(true);
    }
    const terminal = lines
      .map(typeOf)
      .find((type) => /^(?:response\.(?:completed|incomplete|failed)|error)$/.test(type));
    expect(end?.status).toBe(
      { "response.completed": "completed", "response.incomplete": "incomplete" }[terminal ?? ""] ?? "failed",
    );
  });

  test("has deltas that add up to the finished items", () => {
    const { events, items } = decode(framed(stream().lines));
    const texts = streamed(events);
    for (const item of items) {
      if (item.type === "assistant_message") {
        expect(texts[`${item.outputIndex} text 0`]).toBe(item.text === "" ? item.refusal : item.text);
      } else if (item.type === "tool_call") {
        expect(texts[`${item.outputIndex} arguments 0`]).toBe(item.arguments);
      }
    }
  });

  test("gives the same events byte by byte", () => {
    const bytes = framed(stream().lines);
    expect(decode(bytes, [1]).events).toEqual(decode(bytes).events);
  });
});

test("recordings and own streams are split where a response begins", () => {
  const two = [...(streams[0]?.lines ?? []), ...(streams[2]?.lines ?? [])];
  expect(responsesOf(two.join("\n"))).toEqual([streams[0]?.lines, streams[2]?.lines]);
});
