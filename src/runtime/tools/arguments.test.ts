import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseArguments } from "./index.ts";

function messageFor(text: string, maxBytes?: number): string {
  const parsed = parseArguments(text, maxBytes);
  expect(parsed.ok).toBe(false);
  return parsed.ok ? "" : parsed.message;
}

function nested(levels: number): string {
  return `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
}

describe("parseArguments", () => {
  test("returns every JSON object unchanged", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(parseArguments(text)).toEqual({ ok: true, value: JSON.parse(text) as unknown });
      }),
    );
  });

  test("refuses every other JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(typeof value !== "object" || value === null || Array.isArray(value));
        expect(parseArguments(JSON.stringify(value)).ok).toBe(false);
      }),
    );
  });

  test("refuses every cut-off object and completes none", () => {
    const text = JSON.stringify({ path: "a/b.txt", content: 'x"\\\n', list: [1, { deep: null }] });
    for (let end = 0; end < text.length; end += 1) expect(parseArguments(text.slice(0, end)).ok).toBe(false);
  });

  test.each([
    ["", /empty/],
    ["  \n", /empty/],
    ["null", /"null" is null/],
    ["[]", /"\[\]" is an array/],
    ['"text"', /is a string/],
    ["{'a': 1}", /"\{'a': 1\}" is not valid JSON/],
    ['{"a":1}{"a":1}', /is not valid JSON/],
  ])("quotes the problem with %j", (text, expected) => {
    expect(messageFor(text)).toMatch(expected);
  });

  test("quotes only the head and tail of long text", () => {
    const message = messageFor(`{"a":"${"x".repeat(100_000)}END`);
    expect(message).toMatch(/END/);
    expect(message.length).toBeLessThan(1000);
  });

  test("limits size in bytes and depth, exactly", () => {
    expect(parseArguments('{"a":"é"}', 10).ok).toBe(true);
    expect(messageFor('{"a":"é"}', 9)).toMatch(/10 bytes; at most 9/);
    expect(parseArguments(nested(128)).ok).toBe(true);
    expect(messageFor(nested(129))).toMatch(/129 levels deep; at most 128/);
    expect(parseArguments(nested(400_000)).ok).toBe(false);
    expect(parseArguments(JSON.stringify({ a: "x".repeat(1024 * 1024) })).ok).toBe(false);
  });
});
