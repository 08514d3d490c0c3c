import fc from "fast-check";
import { expect, test } from "vitest";

import { toolNames } from "./tool-names.ts";

test("a name is made of the server and the tool, with _ for what no API takes", () => {
  expect(toolNames("docs", ["search", "read.file", "naïve"])).toEqual([
    "mcp__docs__search",
    "mcp__docs__read_file",
    "mcp__docs__na_ve",
  ]);
});

test("tools that would get one name all get a hash, whatever their order", () => {
  const names = toolNames("docs", ["a.b", "a_b", "c"]);
  expect(names[2]).toBe("mcp__docs__c");
  expect(names[0]).toMatch(/^mcp__docs__a_b_[0-9a-f]{8}$/);
  expect(names[1]).toMatch(/^mcp__docs__a_b_[0-9a-f]{8}$/);
  expect(names[0]).not.toBe(names[1]);
  expect(toolNames("docs", ["a_b", "c", "a.b"])).toEqual([names[1], names[2], names[0]]);
});

test("a long name keeps its end, where tools differ", () => {
  const [first, second] = toolNames("a-server-with-a-long-name", [
    `${"x".repeat(100)}_one`,
    `${"x".repeat(100)}_two`,
  ]);
  expect(first).toMatch(/^mcp__a-server-wit__x+_one_[0-9a-f]{8}$/);
  expect(second).toMatch(/_two_[0-9a-f]{8}$/);
  expect(first).toHaveLength(64);
});

test("a server's name that looks like the border between names cannot take another server's tool", () => {
  const [one] = toolNames("a", ["b__c"]);
  const [other] = toolNames("a__b", ["c"]);
  expect(one).toBe("mcp__a__b__c");
  expect(other).not.toBe(one);
});

test("names are valid, different, and depend on nothing but the names they are made of", () => {
  const tools = fc.uniqueArray(fc.string({ unit: "binary", minLength: 1, maxLength: 128 }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 64 }), tools, (server, listed) => {
      const names = toolNames(server, listed);
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(new Set(names).size).toBe(listed.length);
      const turned = toolNames(server, listed.toReversed());
      expect(turned.toReversed()).toEqual(names);
    }),
  );
});
