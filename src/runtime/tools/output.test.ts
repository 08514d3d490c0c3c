import { Buffer } from "node:buffer";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { ThroughlineError } from "../../base/support/index.ts";
import { renderToolOutput } from "./index.ts";

function textOf(value: unknown): string {
  const rendered = renderToolOutput(value);
  expect(rendered).toEqual({ text: rendered.text, truncated: false });
  return rendered.text;
}

describe("renderToolOutput on a value", () => {
  const cycle: Record<string, unknown> = { name: "loop" };
  cycle["self"] = cycle;
  const shared = { n: 1 };

  test.each<[string, unknown, string]>([
    ["a string as it is", 'say "hi"\n', 'say "hi"\n'],
    ["nothing", undefined, ""],
    ["null", null, "null"],
    ["a number", 1.5, "1.5"],
    ["not a number", Number.NaN, "NaN"],
    ["a bigint", 12345678901234567890n, "12345678901234567890"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["a function", textOf, "[function textOf]"],
    ["an Error", new Error("boom"), "boom"],
    ["a named Error", new TypeError("boom"), "TypeError: boom"],
    ["an Error without message", new RangeError(), "RangeError"],
    ["our own error", new ThroughlineError({ code: "edit_failed", message: "do this" }), "do this"],
    ["an Error with a cause", new Error("a", { cause: new TypeError("b") }), "a\ncaused by: TypeError: b"],
    [
      "JSON",
      { a: [1, null, true, undefined], b: undefined, c: { d: "é" } },
      '{"a":[1,null,true,null],"c":{"d":"é"}}',
    ],
    [
      "values that JSON lacks",
      { n: Number.NaN, b: 10n, s: Symbol("s"), e: new Error("x") },
      '{"n":"NaN","b":10,"s":"Symbol(s)","e":"x"}',
    ],
    ["a cycle", cycle, '{"name":"loop","self":"[circular]"}'],
    ["a shared node, which is not a cycle", [shared, shared], '[{"n":1},{"n":1}]'],
    [
      "a Map",
      new Map<unknown, unknown>([
        ["a", 1],
        [{ k: 1 }, undefined],
      ]),
      '{"a":1,"{\\"k\\":1}":null}',
    ],
    ["a Set", new Set([1, "a"]), '[1,"a"]'],
    ["a Date", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["a Buffer of text", Buffer.from("grüß"), "grüß"],
    ["bytes that are not text", new Uint8Array([0xff, 0xfe, 0]), "[binary data, 3 bytes]"],
    [
      "bytes inside",
      { b: Buffer.from("x"), c: new Uint8Array([0xff]) },
      '{"b":"x","c":"[binary data, 1 bytes]"}',
    ],
    ["an ArrayBuffer", new TextEncoder().encode("ab").buffer, "ab"],
    ["other typed arrays", new Float64Array([0.5, 1]), "[0.5,1]"],
    ["boxed primitives", [Object("s"), Object(1), Object(true)], '["s",1,true]'],
    ["a lone surrogate", "a\ud800b", "a\ufffdb"],
    ["a lone surrogate inside", { "\udc00": "\ud83d\ude00\ud800" }, '{"\ufffd":"😀\ufffd"}'],
  ])("renders %s", (_, value, expected) => {
    expect(textOf(value)).toBe(expected);
  });

  test("hides only the getter that throws, not its neighbours", () => {
    const value = {
      a: 1,
      get b(): never {
        throw new Error("no");
      },
      c: 3,
    };
    expect(JSON.parse(textOf(value))).toEqual({ a: 1, b: "[unreadable: no]", c: 3 });
  });

  test("renders a throwing toJSON, revoked proxies and hostile errors as text", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const hostile = Object.defineProperty(new Error("x"), "message", {
      get: () => {
        throw hostile;
      },
    });
    const throwing = {
      toJSON: () => {
        throw new Error("no");
      },
    };
    expect(textOf({ throwing })).toBe('{"throwing":"[unreadable: no]"}');
    expect(textOf(throwing)).toBe('"[unreadable: no]"');
    expect(textOf([revoked.proxy, 1])).toMatch(/^\["\[unreadable.*",1\]$/);
    expect(textOf(revoked.proxy)).toMatch(/unreadable/);
    expect(textOf(hostile)).toBe("[unreadable]");
    expect(textOf([hostile])).toBe('["[unreadable]"]');
  });

  test("ends a value a million levels deep with a note", () => {
    let deep: unknown = "core";
    for (let level = 0; level < 1_000_000; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    const text = textOf(deep);
    expect(text).toMatch(/deeper than 200 levels/);
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  test("terminates on a graph that would expand to 2^60 nodes, with valid JSON", () => {
    let node: unknown = "leaf".repeat(1000);
    for (let level = 0; level < 60; level += 1) node = [node, node];
    const { full = "", truncated } = renderToolOutput(node);
    expect(truncated).toBe(true);
    expect(full.length).toBeLessThan(80 * 1024 * 1024);
    expect(full).toMatch(/left out: too large/);
  });

  test("agrees with JSON.stringify on all JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(typeof value !== "string");
        expect(textOf(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  test("returns well-formed text for any value", () => {
    const anything = fc.anything({
      withBigInt: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withDate: true,
      withNullPrototype: true,
      withSparseArray: true,
      withBoxedValues: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const { text } = renderToolOutput(value);
        expect(Buffer.from(text).toString()).toBe(text);
      }),
    );
  });
});

describe("renderToolOutput, truncation", () => {
  test("keeps text at the limit whole, but not one byte more", () => {
    expect(renderToolOutput("x".repeat(64 * 1024))).toEqual({
      text: "x".repeat(64 * 1024),
      truncated: false,
    });
    expect(renderToolOutput("x".repeat(64 * 1024 + 1)).truncated).toBe(true);
  });

  test("keeps the head, the tail and the full text of 50 MB", () => {
    const value = `HEAD${"x".repeat(50 * 1024 * 1024)}TAIL`;
    const { text, truncated, full } = renderToolOutput(value);
    expect(truncated).toBe(true);
    expect(full === value).toBe(true);
    expect(text.startsWith("HEAD")).toBe(true);
    expect(text.endsWith("TAIL")).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
  });

  test("of any text at any limit is bounded, on character boundaries, with an exact count in the marker", () => {
    const input = fc.string({ unit: "binary", maxLength: 400, size: "max" });
    fc.assert(
      fc.property(input, fc.integer({ min: 60, max: 400 }), (value, maxModelBytes) => {
        const { text, truncated, full } = renderToolOutput(value, maxModelBytes);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxModelBytes);
        expect(truncated).toBe(Buffer.byteLength(value) > maxModelBytes);
        if (!truncated) {
          expect({ text, full }).toEqual({ text: value, full: undefined });
          return;
        }
        const marker = /\n\n\[… (\d+) of (\d+) bytes left out here …\]\n\n/.exec(text);
        expect(marker).not.toBeNull();
        const head = text.slice(0, marker?.index);
        const tail = text.slice((marker?.index ?? 0) + (marker?.[0].length ?? 0));
        expect(full).toBe(value);
        expect(value.startsWith(head) && value.endsWith(tail)).toBe(true);
        expect(Number(marker?.[1])).toBe(
          Buffer.byteLength(value) - Buffer.byteLength(head) - Buffer.byteLength(tail),
        );
        expect(Number(marker?.[2])).toBe(Buffer.byteLength(value));
      }),
    );
  });

  test("leaves only the marker if the limit is smaller than that", () => {
    expect(renderToolOutput("x".repeat(100), 1).text.trim()).toBe("[… 100 of 100 bytes left out here …]");
  });
});
