import { expect, test } from "vitest";

import { Backlog } from "./backlog.ts";

test("the backlog returns everything complete and in order, in few chunks, and is then empty", () => {
  const backlog = new Backlog();
  const texts = Array.from({ length: 5000 }, (_, n) => `data: ${n} – größer als ein Byte\n\n`);
  texts.splice(100, 0, "x".repeat(200_000)); // larger than a chunk
  for (const text of texts) backlog.add(Buffer.from(text));
  const whole = Buffer.from(texts.join(""));
  expect(backlog.length).toBe(whole.length);
  const pieces = backlog.take();
  expect(Buffer.concat(pieces).equals(whole)).toBe(true);
  expect(pieces.length).toBeLessThan(10);
  expect([backlog.length, backlog.take()]).toEqual([0, []]);
  backlog.add(Buffer.from("again"));
  expect(Buffer.concat(backlog.take()).toString()).toBe("again");
});

test("the backlog holds little more than the bytes themselves", () => {
  const backlog = new Backlog();
  for (let n = 0; n < 6000; n += 1) backlog.add(Buffer.from("d".repeat(170)));
  const held = backlog.take().reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  expect(held).toBeLessThan(6000 * 170 * 1.1);
});
