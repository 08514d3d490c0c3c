import fc from "fast-check";
import { expect, test, vi } from "vitest";

import { isObject, numberOf, tryParseJson } from "../../../base/support/index.ts";
import type { StreamEvent } from "../provider.ts";
import { DeltaShapes, type ReadText } from "./delta-shapes.ts";
import { ResponsesDecoder } from "./stream.ts";
import { TEXT_EVENTS } from "./text-events.ts";

const TYPES = [...TEXT_EVENTS].flatMap(([type, { field }]) => (field === "delta" ? [type] : []));

/** What a parser reads in a delta. */
function parsed(data: string): ReadText | undefined {
  const event = tryParseJson(data);
  const source = isObject(event) ? TEXT_EVENTS.get(String(event["type"])) : undefined;
  if (!isObject(event) || source === undefined || typeof event["delta"] !== "string") return undefined;
  return {
    source,
    outputIndex: numberOf(event["output_index"]) ?? 0,
    part: source.part === undefined ? 0 : (numberOf(event[source.part]) ?? 0),
    text: event["delta"],
  };
}

function learn(shapes: DeltaShapes, data: string): void {
  const event = tryParseJson(data);
  const source = isObject(event) ? TEXT_EVENTS.get(String(event["type"])) : undefined;
  if (isObject(event) && source?.field === "delta") shapes.learn(data, event, source);
}

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", '"', "\\", 'a"b', "\n", "\u0000", "\u2028", "ü👋", "\ud800", "text of many words", "}"),
);
const index = fc.oneof(
  { arbitrary: fc.nat(12), weight: 6 },
  { arbitrary: fc.constantFrom<unknown>(-1, 1.5, 1e30, "0", null, true), weight: 1 },
);
const anything = fc.oneof(
  text,
  fc.nat(),
  fc.constantFrom<unknown>([], {}, null, -0, 0.5, ["x"], { delta: "y" }),
);
const event = fc
  .tuple(
    fc.constantFrom(...TYPES, "response.unknown.delta"),
    fc.record({ delta: text, output_index: index, item_id: text }, { requiredKeys: ["delta"] }),
    fc.record(
      { content_index: index, summary_index: index, sequence_number: fc.nat() },
      { requiredKeys: [] },
    ),
    fc.dictionary(fc.constantFrom("a", "b.c", "d\\e", '"', "(", "logprobs", "delta"), anything, {
      maxKeys: 2,
    }),
  )
  .map(([type, ...members]): Record<string, unknown> => Object.assign({ type }, ...members));
/** A delta, and the one that follows it: usually the same but for its numbers and texts. */
const neighbours = fc
  .tuple(event, fc.record({ delta: text, sequence_number: fc.nat(), output_index: fc.nat(20) }))
  .map(([first, changed]) => {
    const same = Object.entries(changed).filter(
      ([key]) => typeof first[key] === typeof changed.delta || key in first,
    );
    return [first, { ...first, ...Object.fromEntries(same) }];
  });
/** One character that is lost or replaced, at a share of the length. */
const damage = fc.option(
  fc.tuple(fc.integer({ min: 0, max: 99 }), fc.constantFrom("", '"', "\\", "}", "0", "\t", ",")),
  { freq: 3 },
);

function damaged(whole: string, how: readonly [number, string] | null): string {
  if (how === null) return whole;
  const place = Math.floor((how[0] / 100) * whole.length);
  return whole.slice(0, place) + how[1] + whole.slice(place + 1);
}

test("what a shape reads in an event is what a parser reads, whatever was learned before", () => {
  const counts = { read: 0, all: 0 };
  fc.assert(
    fc.property(
      fc.array(fc.tuple(neighbours, fc.constantFrom(0, 1), damage), { minLength: 1, maxLength: 6 }),
      (groups) => {
        const shapes = new DeltaShapes();
        for (const [events, space, how] of groups) {
          const texts = events.map((one) => JSON.stringify(one, null, space));
          for (const data of [...texts, ...texts.map((whole) => damaged(whole, how))]) {
            const read = shapes.read(data);
            if (read === undefined) learn(shapes, data);
            else expect(read).toEqual(parsed(data));
            counts.all += 1;
            counts.read += read === undefined ? 0 : 1;
          }
        }
      },
    ),
    { numRuns: 2000 },
  );
  expect(counts.read).toBeGreaterThan(counts.all / 10);
});

const delta = (at: number, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: "response.output_text.delta",
  sequence_number: at,
  item_id: `msg_${at % 3}`,
  output_index: at % 2,
  content_index: 0,
  delta: `word ${at} "quoted"`,
  ...more,
});

/** The stream events, and how many characters JSON.parse was given. */
function decoded(events: readonly Record<string, unknown>[]): [readonly StreamEvent[], number] {
  const frames = events.map((one) => ({ event: "", data: JSON.stringify(one) }));
  const parse = vi.spyOn(JSON, "parse");
  try {
    const stream = new ResponsesDecoder().feed(frames);
    return [stream, parse.mock.calls.reduce((sum, [given]) => sum + given.length, 0)];
  } finally {
    parse.mockRestore();
  }
}

test("of a thousand deltas one is parsed, and of the others only a text that needs it", () => {
  const [stream, characters] = decoded(Array.from({ length: 1000 }, (_, at) => delta(at)));
  expect(stream.filter(({ type }) => type === "delta")).toHaveLength(1000);
  expect(characters).toBeLessThan(1000 * 25);
});

test("a delta with a member that has content is parsed", () => {
  const shapes = new DeltaShapes();
  for (let at = 0; at < 3; at += 1) {
    const data = JSON.stringify(delta(at, { logprobs: [{ token: "a" }] }));
    expect(shapes.read(data)).toBeUndefined();
    learn(shapes, data);
  }
});

test("a stream whose deltas always have other members stops adding shapes", () => {
  const shapes = new DeltaShapes();
  for (let at = 0; at < 20; at += 1) learn(shapes, JSON.stringify(delta(at, { [`key${at}`]: 1 })));
  expect(shapes.read(JSON.stringify(delta(1, { key15: 2 })))?.text).toBe('word 1 "quoted"');
  expect(shapes.read(JSON.stringify(delta(1, { key19: 2 })))).toBeUndefined();
});

test("what one stream has learned, the next one knows", () => {
  learn(new DeltaShapes(), JSON.stringify(delta(0, { known: "x" })));
  expect(new DeltaShapes().read(JSON.stringify(delta(7, { known: "y" })))).toEqual(
    parsed(JSON.stringify(delta(7))),
  );
});

test("a long text with escapes is left to the parser", () => {
  const shapes = new DeltaShapes();
  learn(shapes, JSON.stringify(delta(0)));
  expect(shapes.read(JSON.stringify(delta(1)))?.text).toBe('word 1 "quoted"');
  expect(shapes.read(JSON.stringify(delta(1, { delta: "\\".repeat(1 << 20) })))).toBeUndefined();
});
