/** How a draft changes, without a browser: no word is lost or sent twice, whatever was stored. */

import fc from "fast-check";
import { expect, test } from "vitest";

import { NOTHING, readDraft } from "../../src/interface/web/composer/draft-value.ts";
import {
  addedSince,
  afterSent,
  asEdited,
  asSent,
  inField,
  toSend,
  withBefore,
} from "../../src/interface/web/composer/edit-draft.ts";

test("what is typed before, behind or inside a sent text is what was added", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.nat(), (sent, added, at) => {
      const place = at % (sent.length + 1);
      const now = sent.slice(0, place) + added + sent.slice(place);
      const found = addedSince(sent, now);
      expect(found.length).toBe(added.length);
      expect(found.split("").toSorted()).toEqual(added.split("").toSorted());
    }),
  );
});

test("a message is sent once, and the rest of the field becomes the next one", () => {
  const first = asSent({ ...NOTHING, text: "One" }, "tn_1", false);
  expect([toSend(first), inField(first)?.turn]).toEqual([undefined, "tn_1"]);
  expect(asSent(first, "tn_2", false)).toBe(first);
  const second = asSent({ ...first, text: "One Two" }, "tn_2", false);
  expect(second.outgoing.map(({ turn, text, inField: stands }) => [turn, text, stands])).toEqual([
    ["tn_1", "One", false],
    ["tn_2", " Two", true],
  ]);
  const [one, two] = second.outgoing;
  if (one === undefined || two === undefined) throw new Error("two messages are on their way");
  const later = afterSent({ ...second, outgoing: [two] }, one);
  expect(later.text).toBe(" Two");
  expect(afterSent({ ...later, outgoing: [] }, two)).toEqual({ ...NOTHING, doubtful: undefined });
});

test("an edit while nobody answers makes the message a draft again, and remembers its turn", () => {
  const sent = asSent({ ...NOTHING, text: "One" }, "tn_1", false);
  expect(asEdited(sent, "One!", [4, 4])).toEqual({
    ...NOTHING,
    text: "One!",
    caret: [4, 4],
    doubtful: { turn: "tn_1", text: "One" },
  });
});

test("a message that is taken back stands before the words of the field", () => {
  const image = { id: "im_1", name: "a.png", mediaType: "image/png", bytes: 1 };
  expect(withBefore({ ...NOTHING, text: "rest" }, { text: "One", images: [image] })).toEqual({
    ...NOTHING,
    text: "One\nrest",
    caret: [3, 3],
    images: [image],
  });
  expect(withBefore(NOTHING, { text: "One", images: [] }).text).toBe("One");
});

test("a stored draft is read as it was, and of anything else at most its words", () => {
  const image = { id: "im_1", name: "a.png", mediaType: "image/png", bytes: 1 };
  const value = { ...asSent({ ...NOTHING, text: 'A "word"\n', images: [image] }, "tn_1", true) };
  expect(readDraft(JSON.stringify(value))).toEqual({ value, isDamaged: false });
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const read = readDraft(text).value;
      expect([typeof read.text, Array.isArray(read.outgoing)]).toEqual(["string", true]);
    }),
  );
  fc.assert(
    fc.property(fc.string(), fc.nat(), (text, cut) => {
      const json = JSON.stringify({ ...NOTHING, text });
      const { value: read, isDamaged } = readDraft(json.slice(0, cut % json.length));
      expect(isDamaged).toBe(true);
      expect(text.startsWith(read.text)).toBe(true);
      // At most the last character was torn.
      const whole = json.slice(0, cut % json.length).length - '{"text":"'.length;
      expect(JSON.stringify(read.text).length - 2).toBeGreaterThanOrEqual(
        Math.min(whole, JSON.stringify(text).length - 2) - 5,
      );
    }),
  );
});
