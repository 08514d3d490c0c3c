import { EventSourceParserStream } from "eventsource-parser/stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { SseDecoder, type SseFrame } from "./sse.ts";

function decode(text: string | Buffer, sizes: readonly number[] = [1 << 20]): readonly SseFrame[] {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const decoder = new SseDecoder();
  const frames: SseFrame[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    frames.push(...decoder.feed(bytes.subarray(at, at + size)));
    at += size;
  }
  return frames;
}

describe("framing", () => {
  test.each([
    ["LF", "event: a\ndata: 1\n\ndata: 2\n\n"],
    ["CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n"],
    ["CR", "event: a\rdata: 1\r\rdata: 2\r\r"],
    ["a mixture", "event: a\rdata: 1\n\r\ndata: 2\r\n\n"],
    ["no space after the colon", "event:a\ndata:1\n\ndata:2\n\n"],
    ["a byte order mark", "\uFEFFevent: a\ndata: 1\n\ndata: 2\n\n"],
    ["comments and unknown fields", ": hi\nid: 7\nretry: 10\nevent: a\nnothing\ndata: 1\n\n:\n\ndata: 2\n\n"],
    ["empty lines between events", "\n\nevent: a\ndata: 1\n\n\n\ndata: 2\n\n"],
  ])("accepts %s", (_, text) => {
    expect(decode(text)).toEqual([
      { event: "a", data: "1" },
      { event: "", data: "2" },
    ]);
  });

  test("removes one space and no more", () => {
    expect(decode("data:  x \n\n")).toEqual([{ event: "", data: " x " }]);
  });

  test("joins several data lines, including an empty one", () => {
    expect(decode("data: a\ndata\ndata:\ndata: b\n\n")).toEqual([{ event: "", data: "a\n\n\nb" }]);
  });

  test("skips an event without data, and does not keep its name for the next", () => {
    expect(decode("event: ghost\n\ndata: 1\n\n")).toEqual([{ event: "", data: "1" }]);
  });

  test("uses the last of several names", () => {
    expect(decode("event: a\nevent: b\ndata: 1\n\n")).toEqual([{ event: "b", data: "1" }]);
  });

  test("ignores an event that is not ended by an empty line", () => {
    expect(decode("data: 1\n\ndata: 2\n")).toEqual([{ event: "", data: "1" }]);
    expect(decode("data: 1")).toEqual([]);
  });

  test("ignores a byte order mark only at the very start", () => {
    expect(decode("data: 1\n\n\uFEFFdata: 2\n\n")).toEqual([{ event: "", data: "1" }]);
  });

  test("does not treat Unicode line separators as line ends", () => {
    expect(decode("data: a\u2028b\u2029c\u0085d\n\n")).toEqual([
      { event: "", data: "a\u2028b\u2029c\u0085d" },
    ]);
  });

  test("returns a frame as soon as its empty line is complete, even after CR", () => {
    const decoder = new SseDecoder();
    expect(decoder.feed(Buffer.from("data: 1\r\n\r"))).toEqual([{ event: "", data: "1" }]);
    expect(decoder.feed(Buffer.from("\ndata: 2\r\n\r\n"))).toEqual([{ event: "", data: "2" }]);
  });

  test("is unaffected by an empty chunk between CR and LF", () => {
    const decoder = new SseDecoder();
    const chunks = ["data: 1\r", "", "\ndata: 2\r\n\r\n"];
    expect(chunks.flatMap((chunk) => decoder.feed(Buffer.from(chunk)))).toEqual([
      { event: "", data: "1\n2" },
    ]);
  });
});

const line = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
  fc.constantFrom("event: x", "event:y", "data", ":c", "", "", "id: 1", "data:{}", "data: 🧠é"),
);
const stream = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 30 })
  .map((lines) => lines.map(([text, end]) => text + end).join(""));

describe("any split of the bytes", () => {
  test("gives the same frames", () => {
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
        (text, sizes) => {
          expect(decode(text, sizes)).toEqual(decode(text));
        },
      ),
    );
  });

  test("works inside a character and inside the byte order mark too", () => {
    const text = "\uFEFFevent: ü\r\ndata: 🧠é\r\n\r\n";
    expect(decode(text, [1])).toEqual([{ event: "ü", data: "🧠é" }]);
  });

  test("agrees with an independent parser", async () => {
    await fc.assert(
      fc.asyncProperty(stream, async (text) => {
        const parsed: SseFrame[] = [];
        // That parser waits for what follows a final CR, so both get one more line.
        const whole = `${text}\n`;
        const reader = new Blob([whole])
          .stream()
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream());
        for await (const { event = "", data } of reader) parsed.push({ event, data });
        expect(decode(whole)).toEqual(parsed);
      }),
      { numRuns: 60 },
    );
  });
});

describe("limits", () => {
  const limited = new Map([
    ["a line that never ends", { maxLineBytes: 100 }],
    ["a line that ends too late", { maxLineBytes: 100 }],
  ]);

  test.each([...limited])("stop %s", (what, limits) => {
    const decoder = new SseDecoder(limits);
    const text = `data: ${"x".repeat(200)}${what.includes("never") ? "" : "\n\n"}`;
    expect(() => decoder.feed(Buffer.from(text))).toThrow(
      expect.objectContaining({ code: "stream_limit", message: expect.stringContaining("100 bytes") }),
    );
  });

  test("count a line across its chunks", () => {
    const decoder = new SseDecoder({ maxLineBytes: 100 });
    decoder.feed(Buffer.from("x".repeat(60)));
    expect(() => decoder.feed(Buffer.from("x".repeat(60)))).toThrow("longer than 100 bytes");
  });

  // 96 characters, 141 bytes.
  const wide = `data: ${"ü".repeat(45)}${"x".repeat(45)}`;

  test.each([
    ["a finished line", "\n", 1 << 20],
    ["an unfinished line", "", 1 << 20],
    ["a line in chunks that split characters", "\n", 7],
    ["an unfinished line in chunks of one byte", "", 1],
    ["a line after another", "", 149],
  ])("count bytes, not characters, in %s", (what, ending, size) => {
    const bytes = Buffer.from(`${what.includes("after") ? "data: x\n" : ""}${wide}${ending}`);
    const feed = (maxLineBytes: number): void => {
      const decoder = new SseDecoder({ maxLineBytes });
      for (let at = 0; at < bytes.length; at += size) decoder.feed(bytes.subarray(at, at + size));
    };
    expect(() => feed(140)).toThrow("it contains a line longer than 140 bytes");
    feed(141);
  });

  test("count the bytes of an event, not its characters", () => {
    const bytes = Buffer.from(`${wide}\n`.repeat(2)); // twice 90 characters of data, twice 135 bytes
    expect(() => new SseDecoder({ maxEventBytes: 269 }).feed(bytes)).toThrow(
      "it contains an event longer than 269 bytes",
    );
    new SseDecoder({ maxEventBytes: 270 }).feed(bytes);
  });

  test("stop an event with too many bytes or too many lines", () => {
    const many = Buffer.from("data: xxxxxxxxxx\n".repeat(20));
    expect(() => new SseDecoder({ maxEventBytes: 100 }).feed(many)).toThrow(
      "it contains an event longer than 100 bytes",
    );
    expect(() => new SseDecoder({ maxEventLines: 10 }).feed(many)).toThrow(
      "it contains an event longer than 10 lines",
    );
  });

  test("start over with each event", () => {
    const decoder = new SseDecoder({ maxEventBytes: 20, maxEventLines: 2 });
    expect(decoder.feed(Buffer.from("data: 0123456789\ndata: x\n\n".repeat(50)))).toHaveLength(50);
  });

  test("do not make a line of a megabyte in small chunks slow: it is joined once", () => {
    const text = `data: ${"x".repeat(1 << 20)}\n\n`;
    const [frame] = decode(text, [64]);
    expect(frame?.data).toHaveLength(1 << 20);
  });
});
