import fc from "fast-check";
import { expect, test } from "vitest";

import { ByteBlocks } from "./byte-blocks.ts";

const joined = (blocks: ByteBlocks, offset = 0): string => Buffer.concat(blocks.since(offset)).toString();

test("append keeps text of any size, past the first block and past the largest block size", () => {
  const blocks = new ByteBlocks();
  const texts = ["head", "a".repeat(70_000), "行".repeat(1_000_000), "", "tail"];
  for (const text of texts) blocks.append(text);
  expect(blocks.length).toBe(3_070_008);
  expect(joined(blocks)).toBe(texts.join(""));
});

test("textAt returns every appended text, and since works from any offset", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }).map((one) => Buffer.from(one).toString()),
    fc.constantFrom("x".repeat(5000), "é".repeat(20_000), "😀".repeat(3000)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.constantFrom("", ",", "—")), { maxLength: 12 }), (parts) => {
      const blocks = new ByteBlocks();
      const places = parts.map(([one, before]) => blocks.append(one, before));
      const whole = Buffer.from(parts.map(([one, before]) => before + one).join(""));
      expect(places.map((place) => blocks.textAt(place))).toEqual(parts.map(([one]) => one));
      expect(blocks.length).toBe(whole.length);
      for (const offset of [0, 1, Math.floor(whole.length / 2), whole.length]) {
        expect(Buffer.concat(blocks.since(offset)).equals(whole.subarray(offset))).toBe(true);
      }
    }),
  );
});

test("growth neither changes nor copies a view that was returned", () => {
  const blocks = new ByteBlocks();
  blocks.append("first");
  const [view] = blocks.since(0);
  blocks.append("x".repeat(200_000));
  expect(Buffer.from(view ?? []).toString()).toBe("first");
  expect(blocks.since(0)[0]?.buffer).toBe(view?.buffer);
});
