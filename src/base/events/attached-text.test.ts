import { expect, test } from "vitest";

import { attachedText, shownParts, typedText } from "./attached-text.ts";
import type { InputPart } from "./canonical.ts";

const typed = { type: "text", text: 'see <file name="x">' } as const;
const notes = { type: "text", text: attachedText('my "notes".txt', "one\ntwo") } as const;

test("an attached text file is a tag with its name and its text on lines of their own", () => {
  expect(attachedText("a.txt", "one\n")).toBe('<file name="a.txt">\none\n</file>');
  expect(notes).toEqual({ type: "text", text: '<file name="my \\"notes\\".txt">\none\ntwo\n</file>' });
});

test("viewers show the name of an attached file, and the whole text of a first part", () => {
  const image: InputPart = { type: "image", mediaType: "image/png", data: "AAAA" };
  const file: InputPart = { type: "file", name: "a.pdf", mediaType: "application/pdf", data: "AAAA" };
  expect(shownParts([typed, notes, image, file])).toEqual([
    'see <file name="x">',
    '[file my "notes".txt: 2 lines]',
    "[image]",
    "[file a.pdf]",
  ]);
  expect(shownParts([notes])).toEqual([notes.text]);
});

test.each(["a\tb", String.raw`\q`, String.raw`\u12`])(
  "a tag with a name that is no JSON is text: %j",
  (name) => {
    const text = `<file name="${name}">\none\n</file>`;
    expect(shownParts([typed, { type: "text", text }])).toEqual([typed.text, text]);
  },
);

test("the typed text has no attached files", () => {
  expect(typedText([typed, notes])).toBe('see <file name="x">');
  expect(typedText([notes])).toBe(notes.text);
});
