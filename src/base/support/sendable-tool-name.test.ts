import fc from "fast-check";
import { expect, test } from "vitest";

import { isSendableToolName, sendableToolName } from "./sendable-tool-name.ts";

const none = (): boolean => false;

test.each(["bump", "get_weather", "mcp__files__read-file", "7", "-", "x".repeat(64)])(
  "%s can be sent and stays unchanged",
  (name) => {
    expect(sendableToolName(name, none)).toBe(name);
    expect(sendableToolName(name, (one) => one === name)).toBe(name);
  },
);

test.each([
  ["functions.bump", /^functions_bump_[a-z0-9]{12}$/],
  ["multi_tool_use.parallel", /^multi_tool_use_parallel_[a-z0-9]{12}$/],
  ["bump<|channel|>commentary", /^bump_channel_commentary_[a-z0-9]{12}$/],
  ["bu mp", /^bu_mp_[a-z0-9]{12}$/],
  ['""', /^tool_[a-z0-9]{12}$/],
  ["", /^tool_[a-z0-9]{12}$/],
  ["bump\n", /^bump_[a-z0-9]{12}$/],
  ["bump\0", /^bump_[a-z0-9]{12}$/],
  ["計算", /^tool_[a-z0-9]{12}$/],
  ["7.1", /^tool_7_1_[a-z0-9]{12}$/],
  ["\uD800", /^tool_[a-z0-9]{12}$/],
  ["x".repeat(65), /^x{51}_[a-z0-9]{12}$/],
  [`${"-".repeat(100_000)}x`, /^tool_[a-z0-9]{12}$/],
])("%j becomes its readable part and a hash", (name, expected) => {
  expect(sendableToolName(name, none)).toMatch(expected);
});

test("the same name is sent the same way in every version, because logs depend on it", () => {
  expect(sendableToolName("functions.bump", none)).toBe("functions_bump_k6qvimnopolm");
});

test("every API accepts the result for any name, and it stays the same", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
      const sent = sendableToolName(name, none);
      expect(sent).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(sendableToolName(name, none)).toBe(sent);
      expect(isSendableToolName(sent)).toBe(true);
    }),
  );
});

test("the result is never the name of a declared tool, however many there are", () => {
  const declared = new Set<string>();
  for (let round = 0; round < 20; round += 1) {
    const sent = sendableToolName("functions.bump", (one) => declared.has(one));
    expect(declared).not.toContain(sent);
    declared.add(sent);
  }
});

test("100,000 similar names with one stem do not collide", () => {
  const marks = ".:/<>|()[]{} $#@!?*+=~".split("");
  const names = Array.from({ length: 100_000 }, (_, index) => {
    const tail = index
      .toString(marks.length)
      .split("")
      .map((digit) => marks[Number.parseInt(digit, 36)]);
    return `bump${tail.join("")}`;
  });
  expect(new Set(names).size).toBe(100_000);
  expect(new Set(names.map((name) => sendableToolName(name, none))).size).toBe(100_000);
});
