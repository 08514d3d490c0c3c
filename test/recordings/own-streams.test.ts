/** The emulator's own streams hold every event type that was ever recorded, so nothing depends on the recordings. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Emulator, loadScenario, startEmulator } from "../../src/emulator/index.ts";
import { RESPONSES_EVENTS } from "../../src/runtime/wire/index.ts";
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

const citation = {
  type: "url_citation",
  url: "https://example.test",
  title: "t",
  start_index: 0,
  end_index: 3,
};

/** One answer each; together they use every kind of item and ending. */
const ANSWERS: Readonly<Record<string, object>> = {
  "a thought of two parts and a call": {
    output: [
      { reasoning: ["**One**\n\nfirst \u2028 part", "**Two**\n\nsecond 🧠"] },
      { function_call: { name: "f", arguments: { text: "naïve \u0000 \ud83d\ude00" } } },
    ],
  },
  "a search, a comment and an answer": {
    output: [
      { reasoning: [] },
      { web_search_call: "rivers" },
      { message: { text: "Looking.", phase: "commentary" } },
      { message: { text: "The Nile.", phase: "final_answer", annotations: [citation] } },
    ],
  },
  "a custom call": { output: [{ custom_tool_call: { name: "shell", input: "ls -l" } }] },
  "a refusal": { output: [{ refusal: "I will not." }] },
  "an incomplete answer": { output: [{ message: "half" }], status: "incomplete" },
  "a failure with its error event": { output: [{ message: "x" }], faults: ["error-event=nested"] },
  "a flat error": { output: [{ message: "x" }], faults: ["error-event=flat"] },
  "an item of an unknown type": {
    output: [{ message: "x" }],
    faults: ["unknown-item", "unknown-event", "keepalive=2"],
  },
};

interface Stream {
  readonly name: string;
  readonly lines: readonly string[];
}

const streams: Stream[] = [];

beforeAll(async () => {
  for (const reasoningText of [false, true]) {
    const steps = Object.values(ANSWERS);
    const emulator = await startEmulator({
      switches: { reasoningText },
      scenario: loadScenario(JSON.stringify({ steps }), "own.json"),
    });
    for (const name of Object.keys(ANSWERS)) {
      const lines = await linesOf(emulator);
      streams.push({ name: reasoningText ? `${name}, as reasoning text` : name, lines });
    }
    await emulator.close();
  }
});

afterAll(() => {
  streams.length = 0;
});

async function linesOf(emulator: Emulator): Promise<readonly string[]> {
  const response = await fetch(`${emulator.baseUrl}/responses`, {
    method: "POST",
    headers: { authorization: "Bearer sk-own", "content-type": "application/json" },
    body: JSON.stringify({ model: "emu-reasoner", store: false, stream: true, input: "Go." }),
  });
  const text = await response.text();
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
}

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
  const stream = (): Stream => streams.find((one) => one.name === name) as Stream;

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
