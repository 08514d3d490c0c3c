import { describe, expect, test } from "vitest";

import { unmistakable, unmistakableLine } from "./unmistakable.ts";

/** Takes no room, is blank, or belongs to the letter before it. */
const UNSEEN = /(?![ \n\t])[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u115F\u1160\u2800\u3164\uFFA0]/u;

describe("unmistakable", () => {
  test.for([
    [
      "hidden fillers",
      "rm\u3164-rf\u115F\u034F\u1160\uFFA0\u2800",
      String.raw`rm\u{3164}-rf\u{115F}\u{34F}\u{1160}\u{FFA0}\u{2800}`,
    ],
    [
      "joiners and selectors",
      "a\u200D\u200C👩\u200D🔬❤\uFE0F",
      String.raw`a\u{200D}\u{200C}👩\u{200D}🔬❤\u{FE0F}`,
    ],
    ["spaces other than the ordinary one", "a\u00A0b\u2003c\u3000d", String.raw`a\u{A0}b\u{2003}c\u{3000}d`],
    ["controls", "\u001B[2J\u007F\u009B", String.raw`\u{1B}[2J\u{7F}\u{9B}`],
    [
      "letters struck out, marks without a letter, stacked marks",
      "r\u0336m /\u0301 e\u0301\u0301\u0301\u0301",
      String.raw`r\u{336}m /\u{301} é${"\u0301\u0301"}\u{301}`.replace("é", "e\u0301"),
    ],
    [
      "Cyrillic in a Latin word",
      "p\u0430ypal /\u0435t\u0441/passwd",
      String.raw`p\u{430}ypal /\u{435}t\u{441}/passwd`,
    ],
    ["a whole word of look-alikes", "/\u043E\u0440\u0441/x", String.raw`/\u{43E}\u{440}\u{441}/x`],
    [
      "the same next to Russian, in a path",
      "привет /\u043E\u0440\u0441/x",
      String.raw`привет /\u{43E}\u{440}\u{441}/x`,
    ],
    ["Greek in a Latin word", "g\u03BFogle", String.raw`g\u{3BF}ogle`],
    [
      "full-width and mathematical letters",
      "\uFF52\uFF4D \u{1D5CB}\u{1D5C6} \u212A",
      String.raw`\u{FF52}\u{FF4D} \u{1D5CB}\u{1D5C6} \u{212A}`,
    ],
    [
      "phonetic letters and false punctuation",
      "\u0251 \u01C3 a\u2215b \u037E",
      String.raw`\u{251} \u{1C3} a\u{2215}b \u{37E}`,
    ],
  ] as const)("%s are shown by their numbers", ([, text, expected]) => {
    expect(unmistakable(text)).toBe(expected);
  });

  test.for([
    "plain ASCII: {}[]()<>|&;$`'\"~ \n\tand lines",
    "файл.txt, он с мамой, C:\\Документы\\отчёт.txt",
    "Ελλάδα Müller straße naïve cafe\u0301 Việt Nam",
    "日本語のファイル.txt Tシャツ 한국어 中文，标点。",
    "שלום عربي हिन्दी ไทย ქართული հայերեն",
    "👩 🚀 → ✓ … – “quoted” €",
  ])("%j stays unchanged", (text) => {
    expect(unmistakable(text)).toBe(text);
  });

  test("shows every code point that takes no room by its number, alone or after a letter", () => {
    const passed: string[] = [];
    for (let plane = 0; plane <= 0x10_ffff; plane += 0x1000) {
      const chars = Array.from({ length: 0x1000 }, (_, at) => String.fromCodePoint(plane + at));
      const drawn = chars.filter(
        (char) => !/\p{M}/u.test(char) || /\p{Default_Ignorable_Code_Point}/u.test(char),
      );
      for (const text of [chars.join("\n"), drawn.map((char) => `a${char}b`).join("\n")]) {
        const found = UNSEEN.exec(unmistakable(text));
        if (found !== null) passed.push(JSON.stringify(found[0]));
      }
    }
    expect(passed).toEqual([]);
  });

  test("shows line feeds and tabs as escapes on one line", () => {
    expect(unmistakableLine("a\n\tb  c\u202E")).toBe(String.raw`a\n\tb  c\u{202E}`);
  });
});
