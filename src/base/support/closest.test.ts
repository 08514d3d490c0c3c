import { expect, test } from "vitest";

import { closestTo, didYouMean } from "./closest.ts";

test.each([
  ["hgih", ["none", "low", "medium", "high"], "high"],
  ["red-only", ["read-only", "ask", "auto", "deny"], "read-only"],
  ["readonly", ["read-only", "ask", "auto", "deny"], "read-only"],
  ["maxStep", ["maxSteps", "maxCostUsd"], "maxSteps"],
  ["baseURL", ["apiKey", "baseUrl"], "baseUrl"],
  ["claude-sonet-5", ["claude-opus-5", "claude-sonnet-5"], "claude-sonnet-5"],
  ["sesions", ["serve", "sessions", "stats"], "sessions"],
])("suggests the known name that %s means", (word, known, expected) => {
  expect(closestTo(word, known)).toBe(expected);
});

test("suggests nothing where no name is close", () => {
  expect(closestTo("temperature", ["model", "tools", "system"])).toBeUndefined();
  expect(closestTo("x", ["y", "zz"])).toBeUndefined();
  expect(closestTo("", ["a"])).toBeUndefined();
  expect(closestTo("a".repeat(1000), ["a".repeat(1000)])).toBeUndefined();
  expect(closestTo("model", [])).toBeUndefined();
});

test("prefers the closest name, and the first of equally close names", () => {
  expect(closestTo("modle", ["mode", "model"])).toBe("model");
  expect(closestTo("cat", ["bat", "rat"])).toBe("bat");
});

test("ends a message with the suggestion, or with nothing", () => {
  expect(`unknown effort "hgih"${didYouMean("hgih", ["low", "high"])}`).toBe(
    'unknown effort "hgih"; did you mean "high"?',
  );
  expect(didYouMean("temperature", ["model"])).toBe("");
});
