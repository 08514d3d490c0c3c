import { describe, expect, test, vi } from "vitest";

import { NO_USAGE } from "../../base/events/index.ts";
import { createCompletion, rankFiles } from "./completion.ts";
import { footer } from "./footer.ts";
import { Picker } from "./picker.ts";
import { count, sealed, short } from "./rows.ts";
import { type StatusParts, statusRows } from "./status-line.ts";
import { createStyle } from "./style.ts";
import { widthOf } from "./terminal-library.ts";

const style = createStyle(false);

test("numbers are shortened", () => {
  expect([0, 999, 1234, 34_499, 999_600, 1_500_000].map(short)).toEqual([
    "0",
    "999",
    "1.2k",
    "34k",
    "1.0M",
    "1.5M",
  ]);
  expect([count(1, "row"), count(2000, "row")]).toEqual(["1 row", "2,000 rows"]);
});

test("the last gate passes only text and our own styles", () => {
  expect(sealed("\u001B[2mdim\u001B[22m \u001B[1;36mx\u001B[0m", 20)).toBe(
    "\u001B[2mdim\u001B[22m \u001B[1;36mx\u001B[0m",
  );
  expect(sealed("\u001B[8m\u001B[38;5;1m\u001B[2J\ta\nb", 30)).toBe("\u241B[8m\u241B[38;5;1m\u241B[2J a b");
});

describe("the status line", () => {
  const parts: StatusParts = {
    directory: "~/app",
    session: "fix the build",
    usage: NO_USAGE,
    costUsd: 0,
    model: "openai/gpt-5.6",
    effort: "high",
    context: { usedTokens: 12_000, contextTokens: 400_000, fraction: 0.03 },
    reading: false,
  };

  test("shows no tokens before there are any", () => {
    expect(statusRows(parts, 80, style)).toEqual(["~/app · fix the build  │  openai/gpt-5.6:high"]);
  });

  test("shows tokens with cached and reasoning ones, cost and context, in more rows if it is narrow", () => {
    const usage = { inputTokens: 1234, cachedTokens: 1000, outputTokens: 640, reasoningTokens: 512 };
    const told = { usage, costUsd: 0.0114 };
    expect(statusRows({ ...parts, ...told }, 120, style)).toEqual([
      "~/app · fix the build  │  ↑1.2k (1.0k cached) ↓640 (512 reasoning) $0.011 ctx 3% of 400k  │  openai/gpt-5.6:high",
    ]);
    const narrow = statusRows({ ...parts, ...told }, 20, style);
    expect(narrow.every((row) => widthOf(row) <= 20)).toBe(true);
    expect(narrow.at(-1)).toBe("openai/gpt-5.6:high");
    expect(statusRows({ ...parts, usage, costUsd: undefined }, 120, style)[0]).not.toContain("$");
  });
});

test("the input stays visible in the smallest terminal", () => {
  const input = { rows: ["❯ typed"], cursor: { row: 0, column: 3 } };
  const parts = {
    queue: ["a"],
    waits: "turn" as const,
    workingMs: 2000,
    hint: "hint",
    above: [],
    input,
    status: ["status"],
  };
  expect(footer(parts, 40, 24, style).rows).toEqual([
    "",
    "  ⋯ a",
    "  Alt+Up to edit them",
    "● Working 2s · Esc stops · 1 queued",
    "hint",
    "status",
    "─".repeat(40),
    "❯ typed",
  ]);
  // A running turn is more important than the directory and the model.
  expect(footer(parts, 40, 4, style).rows).toEqual([
    "● Working 2s · Esc stops · 1 queued",
    "hint",
    "❯ typed",
  ]);
  const small = footer(parts, 40, 3, style);
  expect(small.rows).toEqual(["hint", "❯ typed"]);
  expect(small.cursor).toEqual({ row: 1, column: 3 });
});

test.each([
  ["turn", "Alt+Up to edit them"],
  ["server", "Sent when the server is back; Alt+Up to edit them"],
  ["person", "On hold: Enter to send them, Alt+Up to edit them"],
] as const)(
  "what the queue waits for (%s) is shown in full, however narrow the terminal is",
  (waits, told) => {
    const input = { rows: ["❯"], cursor: { row: 0, column: 2 } };
    const parts = {
      queue: ["a"],
      waits,
      workingMs: undefined,
      hint: undefined,
      above: [],
      input,
      status: [],
    };
    const { rows } = footer(parts, 20, 24, style);
    expect(rows.map((row) => row.trim()).join(" ")).toContain(told);
  },
);

test("a picker filters, wraps around, describes the choice, and chooses or cancels", async () => {
  const ends: (string | undefined)[] = [];
  const picker: Picker = new Picker({
    title: "Model",
    choices: ["alpha", "beta", "gamma"].map((value) => ({ value, label: value })),
    about: async (value) => `about ${value}`,
    onChange: () => undefined,
    onEnd: (value) => ends.push(value),
  });
  picker.key("b");
  expect(picker.render(40, 10, style).slice(0, 2)).toEqual(["Model · b", "❯ beta"]);
  await vi.waitFor(() => expect(picker.render(40, 10, style)).toContain("about beta"));
  picker.key("\r");
  picker.key("\u007F");
  picker.key("\u001B[A");
  expect(picker.render(40, 10, style)).toContain("❯ gamma");
  picker.key("\u001B");
  expect(ends).toEqual(["beta", undefined]);
});

test("completes commands at the start and files after an @, nothing elsewhere, and never hostile names", async () => {
  const files = ["src/tui/app.ts", "src/app.test.ts", "a b.ts", "evil\u001B[2J.ts"];
  const complete = createCompletion([{ name: "/help", about: "keys" }], async () => files);
  const where = { firstLine: true, signal: new AbortController().signal };
  expect(await complete("/he", where)).toEqual({
    prefix: "/he",
    items: [{ value: "/help", label: "/help", description: "keys" }],
  });
  expect((await complete("see @app", where))?.items.map(({ value }) => value)).toEqual([
    "@src/tui/app.ts ",
    "@src/app.test.ts ",
  ]);
  expect(await complete("mail a@b", where)).toBeUndefined();
  expect(await complete("/he", { ...where, firstLine: false })).toBeUndefined();
  expect(rankFiles(files, "")).toEqual(["src/tui/app.ts", "src/app.test.ts"]);
});

test("completes names of prompts and skills; one that could not be typed, and a path, are left alone", async () => {
  const named = [
    { name: "/docs:search", about: "find\u001B[2J" },
    { name: "/docs:two words", about: "" },
    { name: "/docs:\u001B[2J", about: "" },
    { name: "/skill:tidy", about: "Tidies up." },
  ];
  const complete = createCompletion(
    [{ name: "/help", about: "keys" }],
    async () => [],
    () => named,
  );
  const where = { firstLine: true, signal: new AbortController().signal };
  expect(await complete("/", where)).toMatchObject({
    items: [{ value: "/help" }, { value: "/docs:search" }, { value: "/skill:tidy" }],
  });
  const found = await complete("/docs:s", where);
  expect(found?.items).toEqual([
    {
      value: "/docs:search",
      label: "/docs:search",
      description: expect.not.stringContaining("\u001B") as string,
    },
  ]);
  expect(await complete("/usr/bin", where)).toBeUndefined();
  expect(await complete("/docs:s", { ...where, firstLine: false })).toBeUndefined();
});
