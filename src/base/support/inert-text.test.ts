import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { inert, inertFrom, inertJson, inertLine, withoutActive } from "./inert-text.ts";

/** Anything a terminal could obey, or that shows text in another order than it is written. */
const ACTIVE = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\u2060\uFEFF\u{E0000}-\u{E007F}]/u;

/** The rule, property by property: a terminal shows none of these as itself. */
const UNSEEN: readonly RegExp[] = [
  /\p{Cc}/u,
  /\p{Cf}/u,
  /\p{Cs}/u,
  /\p{Co}/u,
  /\p{Cn}/u,
  /\p{Zl}/u,
  /\p{Zp}/u,
  /\p{Bidi_Control}/u,
  /\p{Default_Ignorable_Code_Point}/u,
  /\p{Variation_Selector}/u,
  /[\u115F\u1160\u2800\u3164\uFFA0]/u,
];
/** Signs around numbers, which have a glyph, and characters reserved for emoji. */
const SEEN = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}\n\t]|\p{Extended_Pictographic}/u;

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
    ["\u009B31m", String.raw`\u{9B}31m`],
    ["\u202Eevil\u2066", String.raw`\u{202E}evil\u{2066}`],
    ["a\u200Bb\uFEFF", String.raw`a\u{200B}b\u{FEFF}`],
    ["\u{E0041}", String.raw`\u{E0041}`],
    ["a\u2028b\uD800c\u00AD", String.raw`a\u{2028}b\u{D800}c\u{AD}`],
    ["a\u3164\u115F\u034F\u2800\uFFA0b", String.raw`a\u{3164}\u{115F}\u{34F}\u{2800}\u{FFA0}b`],
    ["x\u200Dy\u200Cz\uFE0F", String.raw`x\u{200D}y\u{200C}z\u{FE0F}`],
    ["1\uFE0F", String.raw`1\u{FE0F}`],
    ["👩\u200D\u200D🔬", String.raw`👩\u{200D}\u{200D}🔬`],
    ["❤\uFE0F\uFE0F", `❤\uFE0F${String.raw`\u{FE0F}`}`],
    ["🏴\u{E0067}\u{E007F}", String.raw`🏴\u{E0067}\u{E007F}`],
    [`z${"\u0301".repeat(8)}`, String.raw`z${"\u0301".repeat(6)}\u{301}\u{301}`],
  ] as const)("%j becomes %j", ([text, expected]) => {
    expect(inert(text)).toBe(expected);
  });

  test.for([
    ["emoji", "👩‍🔬 👨🏽‍🚀 ❤️ ☎︎ 1️⃣ 🇨🇭 👁️‍🗨️ 🏳️‍🌈"],
    ["Persian", "می‌خواهم کتاب‌ها ۱۳۹۹ ه‍.ش"],
    ["Hindi, Malayalam and Sinhala", "क्‍ष क्‌ष അവന്‍ ශ්‍රී"],
    ["Japanese with variants", "葛\u{E0100}飾 辻\u{E0101} 日本"],
    ["Arabic signs around numbers", "\u0601\u0661 \u06DD\u0662"],
    ["Hebrew with points", "בְּרֵאשִׁ֖ית"],
    ["French spaces", "« bonjour » 10\u202F000\u00A0€"],
    ["decomposed letters", "cafe\u0301 Việt"],
    ["Mongolian with a variant", "ᠭ\u180B"],
  ] as const)("%s stays unchanged", ([, text]) => {
    expect(inert(text)).toBe(text);
  });

  test("shows every invisible code point as an escape, and no other", () => {
    const wrong: string[] = [];
    for (let code = 0; code <= 0x10_ffff; code += 1) {
      const char = String.fromCodePoint(code);
      const unseen = UNSEEN.some((property) => property.test(char)) && !SEEN.test(char);
      const shown = inert(char);
      if (unseen ? !/^(?:[\u2400-\u2421]|\\u\{[\dA-F]+\})$/.test(shown) : shown !== char)
        wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  test("treats the first characters of a chunk by what precedes it", () => {
    expect(inertFrom("👩\u200D🔬", 2)).toBe("\u200D🔬");
    expect(inertFrom("x\u200D🔬", 1)).toBe(String.raw`\u{200D}🔬`);
  });

  test("shows what withoutActive removes", () => {
    expect(withoutActive("a\u001B[2J\u202Eb\n\tc\u3164 👩‍🔬")).toBe("a[2Jb\n\tc 👩‍🔬");
  });

  test("never outputs anything that moves the cursor, whatever the input", () => {
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
  test("puts everything on one line and marks a cut", () => {
    expect(inertLine("  a\n\n b\t c  ", 10)).toBe("a b c");
    expect(inertLine("abcdef", 4)).toBe("abc…");
    expect(inertLine("abcd", 4)).toBe("abcd");
    expect(inertLine("ab👩d", 4)).toBe("ab…");
  });
});
