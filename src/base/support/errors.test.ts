import { describe, expect, test } from "vitest";

import { codeOf, fileErrorOf, isThroughlineError, messageOf, ThroughlineError } from "./errors.ts";

describe("ThroughlineError", () => {
  test("carries a code for programs, a message for people, and its cause", () => {
    const cause = new Error("inner");
    const error = new ThroughlineError({
      code: "log_failed",
      message: "it failed",
      details: { n: 1 },
      cause,
    });
    const { name, code, details, message } = error;
    expect({ name, code, details, message, cause: error.cause }).toEqual({
      name: "ThroughlineError",
      code: "log_failed",
      details: { n: 1 },
      message: "it failed",
      cause,
    });
  });

  test("is recognized across copies of the package, and other errors are not mistaken for one", () => {
    const copy = Object.assign(new Error("x"), { name: "ThroughlineError", code: "y" });
    expect(
      [copy, new Error("x"), { name: "ThroughlineError", code: "y" }, undefined].map(isThroughlineError),
    ).toEqual([true, false, false, false]);
  });
});

test.each([
  [new Error("no"), "no"],
  ["no", "no"],
  [7, "not an Error: number"],
  [undefined, "not an Error: undefined"],
])("the message of %j is %j", (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});

test.each([
  [Object.assign(new Error("x"), { code: "ENOENT" }), "ENOENT"],
  [{ code: 7 }, undefined],
  [null, undefined],
  ["ENOENT", undefined],
])("the code of %j is %j", (thrown, code) => {
  expect(codeOf(thrown)).toBe(code);
});

describe("a system error", () => {
  const stale = Object.assign(
    new Error("Unknown system error -116: Unknown system error -116, open '/net/a'"),
    { code: "Unknown system error -116", errno: -116, syscall: "open", path: "/net/a" },
  );

  test("that Node knows only by number gets its name", () => {
    expect([codeOf(stale), messageOf(stale)]).toEqual(["ESTALE", "ESTALE: stale file handle, open '/net/a'"]);
  });

  test("on a file names its call; any other error does not", () => {
    const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED", syscall: "connect" });
    expect([stale, refused, new Error("x"), "x"].map(fileErrorOf)).toEqual([
      { call: "open", path: "/net/a" },
      undefined,
      undefined,
      undefined,
    ]);
  });
});
