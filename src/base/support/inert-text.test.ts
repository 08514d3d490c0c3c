import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { inert, inertJson, inertLine } from "./inert-text.ts";

/** Anything a terminal could obey, or that shows text in another order than it is written. */
const ACTIVE = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\u2060\uFEFF\u{E0000}-\u{E007F}]/u;

/** Every plane, with the low code points, where the controls are, as likely as all the others. */
const anyText = fc
  .array(fc.oneof(fc.nat(0xff), fc.integer({ min: 0x2000, max: 0x20ff }), fc.nat(0x10_ffff)))
  .map((points) => String.fromCodePoint(...points));

describe("inert", () => {
  test.for([
    ["plain, tabs\tand\nlines", "plain, tabs\tand\nlines"],
    ["\u001B[31mred", "\u241B[31mred"],
    ["\u0000\u0007\b", "\u2400\u2407\u2408"],
    ["one\r\ntwo\rthree", "one\ntwo\u240Dthree"],
    ["\u007F", "\u2421"],
    ["\u009B31m", "\uFFFD31m"],
    ["\u202Eevil\u2066", "\uFFFDevil\uFFFD"],
    ["a\u200Bb\uFEFF", "a\uFFFDb\uFFFD"],
    ["\u{E0041}", "\uFFFD"],
    ["a\u2028b\uD800c\u00AD", "a\uFFFDb\uFFFDc\uFFFD"],
    ["日本 👩‍🔬 é", "日本 👩‍🔬 é"],
  ] as const)("%j becomes %j", ([text, expected]) => {
    expect(inert(text)).toBe(expected);
  });

  test("whatever comes in, nothing that moves the cursor comes out", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(inert(text)).not.toMatch(ACTIVE);
      }),
    );
  });
});

describe("inertJson", () => {
  test("keeps the value and leaves nothing a terminal could obey", () => {
    const spaces = fc.constantFrom("", " ", "\t", "\r");
    fc.assert(
      fc.property(anyText, spaces, (text, space) => {
        const json = JSON.stringify({ [text]: [text] });
        const safe = inertJson(`${space}${json}${space}`);
        expect(JSON.parse(safe)).toEqual(JSON.parse(json));
        expect(safe).not.toMatch(ACTIVE);
      }),
    );
    expect(inertJson('"\u009B\u{E0041}"')).toBe(String.raw`"\u009b\udb40\udc41"`);
  });
});

describe("inertLine", () => {
  test("puts everything on one line and cuts it with a sign", () => {
    expect(inertLine("  a\n\n b\t c  ", 10)).toBe("a b c");
    expect(inertLine("abcdef", 4)).toBe("abc…");
    expect(inertLine("abcd", 4)).toBe("abcd");
  });
});
