/** Every recorded stream decodes to its items, and the decoded items go back in a form the rules accept. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { sliceArray, sliceMember, sliceObject } from "../../src/base/support/index.ts";
import { httpError } from "../../src/runtime/providers/errors.ts";
import { HOME, inputTexts, logOf, render, settingsOf } from "./re-encode.ts";
import {
  decode,
  type Decoded,
  framed,
  present,
  readRecording,
  recordingNames,
  responsesOf,
  streamed,
} from "./recordings.ts";

interface Expected {
  /** Per response: the items as "index type", and its end status. */
  readonly items: readonly (readonly string[])[];
  readonly status: string;
  /** [input, cached, output, reasoning] per response. */
  readonly usage: readonly (readonly [number, number, number, number] | undefined)[];
  /** The next request at home: "+" for an id. */
  readonly home: readonly string[];
  readonly error?: object;
  /** Lines whose JSON lacks its last brace in the recording: repaired before they are decoded. */
  readonly damagedLines?: readonly number[];
}

const searches = Array.from({ length: 6 }, (_, n) => [`${2 * n} reasoning`, `${2 * n + 1} web_search_call`]);

const EXPECTED: Readonly<Record<string, Expected>> = {
  "github-copilot-id-rotation.1": {
    items: [["0 reasoning", "1 message"]],
    status: "completed",
    usage: [[19, 0, 105, 44]],
    home: ["user", "assistant", "user"], // its payload is null, so its ids are omitted too
  },
  "lmstudio-tool-call.1": {
    items: [["0 reasoning", "1 message", "2 function_call"]],
    status: "completed",
    usage: [[182, 2, 61, 48]],
    home: ["user", "assistant", "function_call", "function_call_output", "user"],
  },
  "openai-custom-tool.1": {
    items: [["0 custom_tool_call"]],
    status: "completed",
    usage: [[50, 0, 20, 0]],
    home: ["user", "custom_tool_call", "custom_tool_call_output", "user"], // its id has the wrong prefix
  },
  "openai-error.1": {
    items: [[]],
    status: "failed",
    usage: [undefined],
    home: ["user", "user"],
    error: { code: "insufficient_quota", class: "FATAL" },
  },
  "openai-phase.1": {
    items: [["0 message", "2 message"]],
    status: "completed",
    usage: [[7112, 3072, 463, 64]],
    home: ["user", "assistant+", "assistant+", "user"],
  },
  "openai-reasoning-encrypted-content.1": {
    items: [["0 reasoning", "1 function_call"], ["0 function_call"], ["0 function_call"], ["0 message"]],
    status: "completed",
    usage: [
      [134, 0, 28, 0],
      [221, 0, 26, 0],
      [260, 0, 26, 0],
      [299, 0, 12, 0],
    ],
    home: [
      "user",
      "reasoning+",
      "function_call+",
      "function_call_output",
      "function_call+",
      "function_call_output",
      "function_call+",
      "function_call_output",
      "assistant+",
      "user",
    ],
  },
  "openai-web-search-tool.1": {
    items: [[...searches.flat(), "12 reasoning", "13 message"]],
    status: "completed",
    usage: [[31073, 3712, 4416, 3712]],
    home: ["user", "assistant", "user"], // a stored response: its thoughts have no payload
  },
  "parallel-tool-call-wrapper.1": {
    items: [["0 function_call"]],
    status: "completed",
    usage: [[34, 0, 28, 0]],
    home: ["user", "function_call+", "function_call_output", "user"],
    damagedLines: [0, 5],
  },
  "xai-text-with-reasoning-streaming-store-false.1": {
    items: [["0 reasoning", "1 message"]],
    status: "completed",
    usage: [[216, 192, 831, 253]],
    home: ["user", "reasoning+", "assistant+", "user"],
  },
};

const ENDING = ".chunks.txt";

function mended(text: string, damaged: readonly number[] = []): string {
  return text
    .split("\n")
    .map((line, index) => (damaged.includes(index) ? `${line}}` : line))
    .join("\n");
}

const readError = (name: string, status: number): object =>
  httpError(status, readRecording(`${name}.json`), { "x-request-id": "req_1" });

function load(name: string): {
  readonly lines: readonly (readonly string[])[];
  readonly decoded: readonly Decoded[];
} {
  const lines = responsesOf(mended(readRecording(name + ENDING), EXPECTED[name]?.damagedLines));
  return { lines, decoded: lines.map((one) => decode(framed(one))) };
}

if (!present) {
  process.stderr.write(
    `recordings: skipped ${Object.keys(EXPECTED).length} recorded streams, THROUGHLINE_FIXTURES is not set\n`,
  );
}

describe.skipIf(!present)("recorded streams", () => {
  test("are all expected here", () => {
    expect(recordingNames(ENDING).toSorted()).toEqual(Object.keys(EXPECTED).map((name) => name + ENDING));
  });

  describe.each(Object.keys(EXPECTED))("%s", (name) => {
    const expected = EXPECTED[name] as Expected;

    test("decodes to its items, in order, with their ids and text", () => {
      const { lines, decoded } = load(name);
      expect(decoded.map(({ items }) => items.map((item) => `${item.outputIndex} ${item.itemType}`))).toEqual(
        expected.items,
      );
      for (const [index, { items }] of decoded.entries()) {
        const done = (lines[index] ?? [])
          .map(
            (line) => JSON.parse(line) as { readonly type: string; readonly item: Record<string, unknown> },
          )
          .filter(({ type }) => type === "response.output_item.done")
          .map(({ item }) => item);
        expect(items.map((item) => item.itemId)).toEqual(done.map((item) => item["id"]));
        expect(items.map((item) => JSON.parse(item.item) as unknown)).toEqual(done);
      }
    });

    test("keeps each item as the exact text of the recording", () => {
      const { lines, decoded } = load(name);
      for (const [index, { items }] of decoded.entries()) {
        for (const { item } of items) {
          const here = (lines[index] ?? []).filter((line) => line.includes('"response.output_item.done"'));
          expect(here.filter((line) => line.includes(`"item":${item}`))).toHaveLength(1);
        }
      }
    });

    test("has deltas that add up to the finished items, no more and no less", () => {
      for (const { events, items } of load(name).decoded) {
        const texts = streamed(events);
        for (const item of items) {
          if (item.type === "assistant_message") {
            expect(texts[`${item.outputIndex} text 0`]).toBe(item.text);
          } else if (item.type === "tool_call") {
            expect(texts[`${item.outputIndex} arguments 0`]).toBe(item.arguments);
          } else if (item.type === "reasoning") {
            for (const [part, { kind, text }] of item.parts.entries()) {
              const channel = kind === "summary" ? "summary" : "reasoning";
              expect(texts[`${item.outputIndex} ${channel} ${part}`]).toBe(text);
            }
          }
        }
      }
    });

    test("ends as recorded, with its usage, and has no unknown event", () => {
      const ends = load(name).decoded.map(({ end }) => end);
      expect(ends.map((end) => end?.status)).toEqual(expected.items.map(() => expected.status));
      expect(
        ends.map(
          (end) =>
            end?.usage && [
              end.usage.inputTokens,
              end.usage.cachedTokens,
              end.usage.outputTokens,
              end.usage.reasoningTokens,
            ],
        ),
      ).toEqual(expected.usage);
      expect(ends.map((end) => end?.unknown)).toEqual(ends.map(() => undefined));
      if (expected.error === undefined)
        expect(ends.map((end) => end?.error)).toEqual(ends.map(() => undefined));
      else expect(ends[0]?.error).toMatchObject(expected.error);
    });

    test("gives the same events however its bytes are cut", () => {
      const [first = []] = load(name).lines;
      const bytes = framed(first);
      const whole = decode(bytes).events;
      fc.assert(
        fc.property(
          fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
          fc.constantFrom("\n", "\r\n", "\r"),
          (sizes, newline) => {
            expect(decode(framed(first, newline), sizes).events).toEqual(whole);
          },
        ),
        { numRuns: 5 },
      );
    });

    test("goes back in a form the rules accept, at home and abroad", async () => {
      const { decoded } = load(name);
      const events = await logOf(decoded, settingsOf("openai"));
      const home = render(events);
      expect(home.violations).toEqual([]);
      expect(
        inputTexts(home).map(
          (item) => `${(item["role"] ?? item["type"]) as string}${"id" in item ? "+" : ""}`,
        ),
      ).toEqual(expected.home);
      for (const profile of ["no-item-ids", "open-responses"]) {
        expect(render(events, settingsOf(profile)).violations).toEqual([]);
      }
      const abroad = render(events, settingsOf("openai", { ...HOME, credential: "other" }));
      expect(abroad.violations).toEqual([]);
      expect(inputTexts(abroad).filter((item) => "id" in item || "encrypted_content" in item)).toEqual([]);
    });

    test("goes back verbatim: each field that is sent has its original text", async () => {
      const { lines, decoded } = load(name);
      const rendered = render(await logOf(decoded, settingsOf("openai")));
      const recorded = lines.flat().join("\n");
      const body = Buffer.concat(rendered.body).toString("utf8");
      for (const item of sliceArray(sliceMember(body, "input") ?? "[]")) {
        const members = sliceObject(item);
        if (!members.some(({ key }) => key === "id")) continue; // a user's message, or an output of ours
        for (const { key, value } of members) expect(recorded).toContain(`"${key}":${value}`);
      }
    });
  });

  test("a damaged line ends the response as a bad event and throws nothing", () => {
    const [lines = []] = responsesOf(readRecording(`parallel-tool-call-wrapper.1${ENDING}`));
    expect(decode(framed(lines)).end).toMatchObject({
      status: "failed",
      error: { code: "bad_event", class: "TRUNC" },
    });
  });

  test("recorded error bodies are classified", () => {
    expect(readError("openai-error.1", 429)).toMatchObject({
      code: "insufficient_quota",
      class: "FATAL",
      status: 429,
      requestId: "req_1",
    });
    expect(readError("reasoning-model-temperature-error", 400)).toMatchObject({
      class: "CAP",
      param: "temperature",
    });
  });
});
