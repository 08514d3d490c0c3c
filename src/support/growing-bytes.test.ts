import { expect, test } from "vitest";

import { GrowingBytes } from "./growing-bytes.ts";

test("bytes are added at the end, over the first size and far over it", () => {
  const bytes = new GrowingBytes();
  const pieces = [
    Buffer.from("head"),
    Buffer.alloc(70_000, "a"),
    Buffer.alloc(1_000_000, "b"),
    Buffer.from("tail"),
  ];
  for (const piece of pieces) bytes.append(piece);
  expect(bytes.length).toBe(1_070_008);
  expect(Buffer.from(bytes.view()).equals(Buffer.concat(pieces))).toBe(true);
});

test("a view that was handed out keeps what it showed", () => {
  const bytes = new GrowingBytes();
  bytes.append(Buffer.from("first"));
  const view = bytes.view();
  bytes.append(Buffer.alloc(200_000, "x"));
  expect(Buffer.from(view).toString()).toBe("first");
});
