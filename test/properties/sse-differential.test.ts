import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { SseDecoder } from "../../src/runtime/wire/index.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";

const QUICK = 3000;
const tally = new Tally();
afterAll(() => tally.print("against eventsource-parser"));

interface Frame {
  readonly event: string;
  readonly data: string;
}

function ours(chunks: readonly Uint8Array[]): readonly Frame[] {
  const decoder = new SseDecoder();
  return chunks.flatMap((chunk) => [...decoder.feed(chunk)]);
}

function theirs(chunks: readonly Uint8Array[]): readonly Frame[] {
  const frames: Frame[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => frames.push({ event: event ?? "", data }),
  });
  // It takes text, so the byte order mark is removed when the bytes are decoded.
  const decoder = new TextDecoder("utf-8");
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
  return frames;
}

const value = fc.oneof(
  fc.constantFrom("", " ", "x", " two spaces", "a:b", ":", "{}", "[DONE]", "ü👋", "\u2028", "\ufeff", "\0"),
  fc.string({ maxLength: 8 }).map((text) => text.replaceAll(/[\r\n]/g, "")),
);
const line = fc.oneof(
  { arbitrary: fc.constant(""), weight: 3 },
  { arbitrary: value.map((text) => `data:${text}`), weight: 4 },
  { arbitrary: value.map((text) => `data: ${text}`), weight: 4 },
  { arbitrary: value.map((text) => `event: ${text}`), weight: 2 },
  { arbitrary: fc.constantFrom("data", "event", "id", "retry", "data ", "Data: x", " data: x"), weight: 1 },
  { arbitrary: value.map((text) => `:${text}`), weight: 1 },
  { arbitrary: fc.constantFrom("id: 3", "retry: 5", "retry: x", "unknown: y", "no colon"), weight: 1 },
);
const stream = fc
  .record({
    mark: fc.boolean(),
    lines: fc.array(fc.tuple(line, fc.constantFrom("\n", "\n", "\r\n", "\r")), {
      maxLength: 24,
      size: "max",
    }),
    rest: fc.option(line, { nil: "" }),
  })
  .map(({ mark, lines, rest }) =>
    Buffer.from(`${mark ? "\ufeff" : ""}${lines.flat().join("")}${rest === "" ? "" : rest}`),
  );

test(
  "the decoder gives the same frames as eventsource-parser, for any stream and any split",
  () => {
    fc.assert(
      fc.property(stream, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (bytes, sizes) => {
        const chunks: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        // It holds back what follows a CR until the next line ends, because an LF may belong to it; we do not have to.
        // A line break that completes the last line, or the CR, changes nothing else.
        const expected = theirs(bytes.at(-1) === 0x0a ? chunks : [...chunks, Buffer.from("\n")]);
        expect(ours(chunks)).toEqual(expected);
        expect(ours([bytes])).toEqual(expected);
        tally.add("streams");
        tally.add("frames", expected.length);
      }),
      runs(QUICK),
    );
    expect(tally.get("frames")).toBeGreaterThan(tally.get("streams") / 2);
  },
  timeoutFor(QUICK),
);
