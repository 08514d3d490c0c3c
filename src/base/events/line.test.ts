import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { messageOf, type RawJson } from "../support/index.ts";
import type { LoggedEvent } from "./canonical.ts";
import { parseCheckedLine, parseLine, toLine, toOpenLine } from "./line.ts";

const envelope = { v: 1, seq: 7, id: "ev_1", at: "2026-01-01T00:00:00.000Z", epoch: 1 } as const;

const raw = (text: string): RawJson => text as RawJson;

const reasoning = (item: string): LoggedEvent => ({
  ...envelope,
  type: "reasoning",
  response: "rsp_1",
  outputIndex: 0,
  itemType: "reasoning",
  opaque: true,
  parts: [],
  startedAt: envelope.at,
  durationMs: 1,
  item: raw(item),
});

const said = (text: string): LoggedEvent => ({
  ...envelope,
  type: "user_message",
  turn: "tn_1",
  by: "person",
  content: [{ type: "text", text }],
});

describe("an event as a line", () => {
  test.each([
    ["line and paragraph separators", "a\u2028b\u2029c"],
    ["a NUL and other control characters", "\u0000\u0001\u001f\u007f\u0085"],
    ["line breaks", "a\nb\r\nc"],
    ["half a surrogate pair", "\ud83d x \udc00"],
    ["astral characters", "🧠𝒳"],
    ["what looks like a checksum", ',"sum":"deadbeef"}'],
  ])("keeps %s", (_, text) => {
    const line = toLine(said(text));
    expect(parseLine(line)).toEqual(said(text));
    expect(/[\n\r\u2028\u2029]/.test(line)).toBe(false);
    expect(line.isWellFormed()).toBe(true);
  });

  test("keeps an item as its exact text: big integers, -0, escapes, key order, repeated keys", () => {
    const item = '{"b":12345678901234567890,"a":-0, "c":1e400,"d":"\\u0041\\/","b":2.50}';
    const line = toLine(reasoning(item));
    expect(line.endsWith(`,"item":${item}}`)).toBe(true);
    expect(parseLine(line)).toEqual(reasoning(item));
  });

  test("keeps late items as their exact text, in order", () => {
    const late = [
      { outputIndex: 0, item: raw('{"id":"rs_1","n":12345678901234567890}') },
      { outputIndex: 12, item: raw('{"x":-0,"outputIndex":3}') },
    ];
    const end: LoggedEvent = {
      ...envelope,
      type: "response_end",
      response: "rsp_1",
      status: "completed",
      durationMs: 5,
      late,
    };
    expect(parseLine(toLine(end))).toEqual(end);
  });

  test("is flat JSON that any tool can read", () => {
    expect(JSON.parse(toLine(reasoning('{"id":"rs_1"}')))).toEqual({
      ...reasoning("{}"),
      item: { id: "rs_1" },
    });
  });

  test("can get its checksum as the last member, which is not part of the event", () => {
    for (const event of [said("x"), reasoning('{"a":1}')]) {
      expect(parseLine(`${toOpenLine(event)},"sum":"0123abcd"}`)).toEqual(event);
    }
  });

  test("preserves any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const line = toLine(said(text));
        expect(parseLine(line)).toEqual(said(text));
        expect(Buffer.from(line, "utf8").toString("utf8")).toBe(line);
      }),
    );
  });

  test("preserves any item", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseLine(toLine(reasoning(text.replaceAll(/[\u2028\u2029]/g, ""))))).toEqual(
          reasoning(text.replaceAll(/[\u2028\u2029]/g, "")),
        );
      }),
    );
  });
});

/** The event, or the message of the refusal. */
function outcome(parse: (line: string) => LoggedEvent, line: string): unknown {
  try {
    return parse(line);
  } catch (error) {
    return messageOf(error);
  }
}

describe("a line with a valid checksum", () => {
  test("is read like any other, wherever the item is and whatever else is called an item", () => {
    const head =
      '"v":1,"seq":3,"id":"ev_9","at":"t","epoch":2,"response":"r","type":"reasoning","outputIndex":0,' +
      '"itemType":"reasoning","opaque":true,"parts":[],"startedAt":"t","durationMs":1';
    for (const line of [
      `{${head},"item":{"a":[1,"}"]}}`,
      `{${head},"item":"text"}`,
      `{${head},"item":{"a":1},"itemId":"rs_1"}`,
      `{${head},"item":1,"item":{"b":2}}`,
      `{"item":{"a":1},${head}}`,
      `{${head},"parts":[{"kind":"text","text":"","item":{"deep":1}}],"item":{"a":",\\"item\\":"}}`,
      `{${head},"parts":{"x":1,"item":{"deep":1}}}`,
      `{${head.replace("reasoning", "brand_new")},"item":{"a":12345678901234567890}}`,
      `{${head.replace('"v":1', '"v":2')},"item":{"a":1}}`,
      `{${head},"late":[{"outputIndex":0,"item":{"a":1}}]}`,
      `{${head}}`,
    ]) {
      expect(outcome(parseCheckedLine, line)).toEqual(outcome(parseLine, line));
    }
  });

  test("keeps any item exactly", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const line = toLine(reasoning(text.replaceAll(/[\u2028\u2029]/g, "")));
        expect(parseCheckedLine(line)).toEqual(parseLine(line));
      }),
    );
  });

  test("keeps only the text of its item, without parsing it", () => {
    const { item } = parseCheckedLine(toLine(reasoning("{not even JSON}"))) as { readonly item?: string };
    expect(item).toBe("{not even JSON}");
  });

  test("is refused without its envelope", () => {
    expect(() => parseCheckedLine('{"v":1,"type":"reasoning","seq":0,"at":"t","epoch":1,"item":{}}')).toThrow(
      expect.objectContaining({ code: "event_invalid" }),
    );
  });
});

describe("an event that a later version wrote", () => {
  test.each([
    [
      "an unknown type",
      '{"v":1,"seq":3,"id":"ev_9","at":"t","epoch":2,"turn":"tn_1","type":"brand_new","n":12345678901234567890}',
    ],
    [
      "an unknown version",
      '{"v":2,"seq":3,"id":"ev_9","at":"t","epoch":2,"turn":"tn_1","type":"user_message","x":-0}',
    ],
  ])("with %s is kept exactly", (_, line) => {
    const event = parseLine(line);
    expect(event).toEqual({
      v: 1,
      seq: 3,
      id: "ev_9",
      at: "t",
      epoch: 2,
      turn: "tn_1",
      type: "unknown",
      unknownType: JSON.parse(line).type as string,
      raw: line,
    });
    expect(toLine(event)).toBe(line);
  });

  test("loses its checksum and nothing else", () => {
    const line = '{"v":1,"seq":3,"id":"ev_9","at":"t","epoch":2,"type":"brand_new","x":[1]';
    expect(toLine(parseLine(`${line},"sum":"00"}`))).toBe(`${line}}`);
  });
});

describe("a line that is not an event", () => {
  test.each([
    ["not JSON", "{"],
    ["not an object", "[1]"],
    ["no type", '{"v":1,"seq":0,"id":"a","at":"t","epoch":1}'],
    ["no seq", '{"v":1,"type":"notice","id":"a","at":"t","epoch":1}'],
    ["a seq that is a string", '{"v":1,"type":"notice","seq":"0","id":"a","at":"t","epoch":1}'],
    ["no id", '{"v":1,"type":"notice","seq":0,"at":"t","epoch":1}'],
    ["no time", '{"v":1,"type":"notice","seq":0,"id":"a","epoch":1}'],
    ["no epoch", '{"v":1,"type":"notice","seq":0,"id":"a","at":"t"}'],
  ])("is refused (%s)", (_, line) => {
    expect(() => parseLine(line)).toThrow(expect.objectContaining({ code: "event_invalid" }));
  });
});
