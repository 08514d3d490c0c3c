import { expect, test } from "vitest";

import { looksFailed, looksRefused } from "./turn.ts";

test.each([
  ["not executed: denied by the user", true],
  ["not executed: denied by the permission policy: permission is needed and there is nobody to ask", true],
  ["Permission denied", true],
  ["A file about permission, with nothing denied or refused in it", false],
  [`# Readme\n\naccess: read | write: all that the permission policy looks at\n${"x".repeat(800)}`, false],
])("%j is told as a refusal: %s", (result, refused) => {
  expect(looksRefused(result)).toBe(refused);
});

test("a long file that speaks of errors did not fail", () => {
  expect(looksFailed("ENOENT: no such file or directory")).toBe(true);
  expect(looksFailed(`How errors are handled: an error is told.\n${"text ".repeat(300)}`)).toBe(false);
});
