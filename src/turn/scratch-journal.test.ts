import { expect, test } from "vitest";

import { partialsFromScratch, toScratch } from "./scratch-journal.ts";

const delta = (outputIndex: number, part: string, text: string) =>
  ({ outputIndex, kind: "text", part, text }) as const;

test("the pieces of each part come back joined, parts and items in the order they began", () => {
  const scratch =
    toScratch("rsp_1", [delta(0, "text0", "Hel"), delta(1, "text0", "x")]) +
    toScratch("rsp_1", [delta(0, "text1", "second"), delta(0, "text0", "lo \n\u2028 ü")]);
  expect(partialsFromScratch(scratch, "rsp_1", new Set())).toEqual([
    {
      type: "partial",
      response: "rsp_1",
      outputIndex: 0,
      kind: "text",
      parts: ["Hello \n\u2028 ü", "second"],
    },
    { type: "partial", response: "rsp_1", outputIndex: 1, kind: "text", parts: ["x"] },
  ]);
});

test("other responses and finished items are left out", () => {
  const scratch =
    toScratch("rsp_0", [delta(0, "text0", "old")]) +
    toScratch("rsp_1", [delta(0, "text0", "done"), delta(1, "text0", "open")]);
  expect(partialsFromScratch(scratch, "rsp_1", new Set([0]))).toMatchObject([
    { outputIndex: 1, parts: ["open"] },
  ]);
});

test("a torn last line, and anything that is no row, is passed over", () => {
  const good = toScratch("rsp_1", [delta(0, "text0", "kept")]);
  const torn = toScratch("rsp_1", [delta(0, "text0", " and lost")]);
  for (let length = 0; length < torn.length - 1; length += 1) {
    const partials = partialsFromScratch(good + torn.slice(0, length), "rsp_1", new Set());
    expect(partials).toMatchObject([{ parts: ["kept"] }]);
  }
  const odd = '{"a":1}\n[1,2]\nnull\n["rsp_1","0","text","text0","x"]\n["rsp_1",0,"odd","text0","x"]\n';
  expect(partialsFromScratch(odd, "rsp_1", new Set())).toEqual([]);
});

test("the name of a tool call is kept", () => {
  const scratch = toScratch("rsp_1", [
    { outputIndex: 2, kind: "tool_call", part: "arguments0", text: '{"ci', name: "get_weather" },
  ]);
  expect(partialsFromScratch(scratch, "rsp_1", new Set())).toEqual([
    {
      type: "partial",
      response: "rsp_1",
      outputIndex: 2,
      kind: "tool_call",
      parts: ['{"ci'],
      name: "get_weather",
    },
  ]);
});
