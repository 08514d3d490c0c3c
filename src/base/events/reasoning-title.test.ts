import { describe, expect, test } from "vitest";

import { type PartTitle, readPartTitle } from "./reasoning-title.ts";

const none: PartTitle = { state: "none" };
const pending: PartTitle = { state: "pending" };
const title = (text: string): PartTitle => ({ state: "title", title: text });

describe("the title of a part", () => {
  test.each([
    ["**Reading the file**\n\nbody", title("Reading the file")],
    ["**Only a title**", title("Only a title")],
    ["\n  **After space**\nbody", title("After space")],
    ["**One** then **two**", title("One")],
    ["Plain text", none],
    ["*emphasis* first", none],
    ["** **\nbody", none],
    ["****\nbody", none],
    ["**never closed\nbody**", none],
  ])("of %j is %j, complete or not", (text, expected) => {
    expect(readPartTitle(text, true)).toEqual(expected);
    expect(readPartTitle(text, false)).toEqual(expected);
  });

  test.each(["", " \n", "*", "**", "**Rea", "**Reading the file", "**Reading the file*"])(
    "of %j is not known until more text arrives",
    (text) => {
      expect(readPartTitle(text, false)).toEqual(pending);
      expect(readPartTitle(text, true)).toEqual(none);
    },
  );

  test("is given up after a while if it never closes", () => {
    expect(readPartTitle(`**${"x".repeat(200)}`, false)).toEqual(none);
  });

  test("is cut at 80 characters and contains no control characters", () => {
    expect(readPartTitle(`**${"x".repeat(100)}**`, true)).toEqual(title("x".repeat(80)));
    expect(readPartTitle("**a\u001b[2Jb\u202ec**", true)).toEqual(title("a[2Jbc"));
  });

  test("does not change once known, as text is added", () => {
    const whole = "**Reading the file**\n\nThe file is long, and **bold** in places.";
    const states = Array.from({ length: whole.length + 1 }, (_, n) =>
      readPartTitle(whole.slice(0, n), false),
    );
    const first = states.findIndex(({ state }) => state === "title");
    expect(states.slice(0, first).every(({ state }) => state === "pending")).toBe(true);
    expect(new Set(states.slice(first).map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(title("Reading the file"))]),
    );
  });
});
