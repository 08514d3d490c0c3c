/** Answers in Markdown on a real screen, at several widths. */

import { describe, expect, test } from "vitest";

import { emulatorOf, newPlace, run as runInPipe } from "../cli/harness.ts";
import { onScreen, type ScreenRun, stalledAfter } from "./screen-harness.ts";

const CODE = [
  'const greeting = "hello"; // said first',
  "",
  "export function longName(firstParameter: string, secondParameter: number): string {",
  "  return `${firstParameter} and ${String(secondParameter)} and the rest of a long line of code`;",
  "}",
];

const TABLE = [
  "| Name | Count | 説明 | Note |",
  "|:-----|------:|:----:|------|",
  "| apple 🍎 | 7 | 果物 | a note that is long enough to be wrapped in a narrow terminal |",
  "| 鈴木 | 1,234 | 家族です | short |",
];

const ANSWER = [
  "Here is **the code**:",
  `\`\`\`ts\n${CODE.join("\n")}\n\`\`\``,
  TABLE.join("\n"),
  "- [ ] write the test\n- [x] see it fail\n  1. nested\n     - deeper",
  "> A quote that has so many words that a narrow terminal wraps it.",
].join("\n\n");

async function answered(
  message: string,
  columns: number,
  env: Readonly<Record<string, string>> = {},
): Promise<ScreenRun> {
  const emulator = await emulatorOf({ steps: [{ output: [{ message }] }] });
  const run = onScreen(newPlace(), ["go"], { columns, rows: 50, env: { ...emulator.env, ...env } });
  await run.shows("─ Worked for");
  await run.ready();
  return run;
}

/** The rows from the one that begins the answer to its end. */
function rowsOf(run: ScreenRun, first: string): readonly string[] {
  const rows = run.everything.split("\n");
  const end = rows.findIndex((row) => row.startsWith("─ Worked for"));
  return rows.slice(rows.indexOf(first), end - 1);
}

/** The colour of the first character of a text: 2 is green, 6 is cyan, -1 the terminal's own. */
function lookOf(run: ScreenRun, text: string): { readonly colour: number; readonly dim: boolean } {
  const { active } = run.terminal.buffer;
  for (let y = 0; y < active.length; y += 1) {
    const line = active.getLine(y);
    const x = line?.translateToString().indexOf(text) ?? -1;
    const cell = x === -1 ? undefined : line?.getCell(x);
    if (cell !== undefined) return { colour: cell.getFgColor(), dim: cell.isDim() !== 0 };
  }
  throw new Error(`no ${text} in:\n${run.everything}`);
}

const coloured = (run: ScreenRun): Promise<void> =>
  run.until(
    "coloured code",
    () => run.everything.includes("const greeting") && lookOf(run, "const").colour === 6,
  );

describe("an answer", () => {
  test("at 120 columns has code without fences, an aligned table, task boxes and a quote bar", async () => {
    const run = await answered(ANSWER, 120);
    expect(rowsOf(run, "Here is the code:")).toEqual([
      "Here is the code:",
      "",
      "ts",
      ...CODE.map((line) => (line === "" ? "" : `  ${line}`)),
      "",
      "Name      Count    説明    Note",
      "────────  ─────  ────────  ─────────────────────────────────────────────────────────────",
      "apple 🍎      7    果物    a note that is long enough to be wrapped in a narrow terminal",
      "鈴木      1,234  家族です  short",
      "",
      "☐ write the test",
      "☑ see it fail",
      "  1. nested",
      "     - deeper",
      "",
      "│ A quote that has so many words that a narrow terminal wraps it.",
    ]);
    expect(await run.leave()).toBe(0);
  });

  test("at 80 columns continues long lines of code deeper, and wraps in the widest cell", async () => {
    const run = await answered(ANSWER, 80);
    const rows = rowsOf(run, "ts");
    expect(rows.slice(3, 8)).toEqual([
      "  export function longName(firstParameter: string, secondParameter: number):",
      "    string {",
      "    return `${firstParameter} and ${String(secondParameter)} and the rest of a",
      "      long line of code`;",
      "  }",
    ]);
    expect(rows.slice(9, 15)).toEqual([
      "Name      Count    説明    Note",
      "────────  ─────  ────────  ─────────────────────────────────────────────────────",
      "apple 🍎      7    果物    a note that is long enough to be wrapped in a narrow",
      "                           terminal",
      "────────  ─────  ────────  ─────────────────────────────────────────────────────",
      "鈴木      1,234  家族です  short",
    ]);
    expect(await run.leave()).toBe(0);
  });

  test("at 40 columns stays readable, and a table without room shows names and values", async () => {
    const wide =
      "\n\n|Identifier|Description|Configuration|\n|---|---|--:|\n|first|internationally|electrification|";
    const run = await answered(ANSWER + wide, 40);
    const rows = rowsOf(run, "Name      Count    説明    Note");
    expect(rows).toEqual([
      "Name      Count    説明    Note",
      "────────  ─────  ────────  ─────────────",
      "apple 🍎      7    果物    a note that",
      "                           is long",
      "                           enough to be",
      "                           wrapped in a",
      "                           narrow",
      "                           terminal",
      "────────  ─────  ────────  ─────────────",
      "鈴木      1,234  家族です  short",
      "",
      "☐ write the test",
      "☑ see it fail",
      "  1. nested",
      "     - deeper",
      "",
      "│ A quote that has so many words that a",
      "│ narrow terminal wraps it.",
      "",
      "Identifier: first",
      "Description: internationally",
      "Configuration: electrification",
    ]);
    expect(await run.leave()).toBe(0);
  });

  test("has code in colours, and selected rows have nothing but an indent in front of it", async () => {
    const run = await answered(ANSWER, 120);
    await coloured(run);
    expect([lookOf(run, '"hello"'), lookOf(run, "// said"), lookOf(run, "greeting")]).toEqual([
      { colour: 2, dim: false },
      { colour: -1, dim: true },
      { colour: -1, dim: false },
    ]);
    const rows = run.everything.split("\n");
    const first = rows.indexOf("ts") + 1;
    const selected = rows.slice(first, first + CODE.length);
    expect(selected.map((row) => row.replace(/^ {2}/, ""))).toEqual(CODE);
    expect(await run.leave()).toBe(0);
  });

  test("has no colours with NO_COLOR", async () => {
    const run = await answered(ANSWER, 80, { NO_COLOR: "1" });
    expect(run.everything).toContain("  const greeting");
    // oxlint-disable-next-line no-control-regex -- that is what it looks for
    expect(run.bytes).not.toMatch(/\u001B\[(?!0m)[\d;]+m/);
    expect(await run.leave()).toBe(0);
  });

  test.for([
    ["on a dumb terminal", { TERM: "dumb" }],
    ["for a screen reader", { ACCESSIBLE: "1" }],
  ] as const)("%s is text without colours", async ([, env]) => {
    const emulator = await emulatorOf({ steps: [{ output: [{ message: ANSWER }] }] });
    const run = onScreen(newPlace(), ["go"], { columns: 120, rows: 50, env: { ...emulator.env, ...env } });
    await run.until("the end of the answer", ({ everything }) => everything.includes("wraps it."));
    for (const line of CODE) expect(run.bytes).toContain(line);
  });

  test("that is shown again when its session is opened has colours at once, also above the window", async () => {
    const place = newPlace();
    const filler = Array.from({ length: 40 }, (_, at) => `Paragraph ${at + 1}.`).join("\n\n");
    const emulator = await emulatorOf({ steps: [{ output: [{ message: `${ANSWER}\n\n${filler}` }] }] });
    await runInPipe(place, ["-p", "go"], { env: emulator.env });
    const run = onScreen(place, ["--continue"], { env: emulator.env });
    await run.shows("Paragraph 40.");
    await run.ready();
    expect(lookOf(run, '"hello"').colour).toBe(2);
    expect(run.everything.match(/const greeting/g)).toHaveLength(1);
    expect(await run.leave()).toBe(0);
  });
});

const cell = (at: number): string => `| ${"x".repeat(at)} | ${at} |`;

describe("while it grows", () => {
  const rows = Array.from({ length: 30 }, (_, at) => cell(at + 1));
  const table = ["| Name | Count |", "|---|--:|", ...rows].join("\n");

  test("a table that is taller than the window stays in it", async () => {
    const { env } = await stalledAfter([{ output: [{ message: table }] }], cell(28));
    const run = onScreen(newPlace(), ["go"], { env });
    await run.until("the last row", ({ screen }) => screen.includes("x".repeat(28)));
    expect(run.everything).toMatch(/… \d+ rows above/);
    expect(run.everything).not.toMatch(/^x +1$/m);
    await run.leave();
  });

  test("it is then printed once, with all its columns aligned", async () => {
    const run = await answered(`${table}\n\nThe end.`, 80);
    const all = run.everything;
    expect(
      rows.map((_, at) => all.split("\n").filter((row) => row.startsWith(`${"x".repeat(at + 1)} `)).length),
    ).toEqual(rows.map(() => 1));
    expect(all).toContain(`${"x".padEnd(30)}  ${"1".padStart(5)}`);
    expect(all).not.toContain("rows above");
    expect(await run.leave()).toBe(0);
  });

  test("code that is taller than the window is printed once, whole and in order", async () => {
    const lines = Array.from({ length: 80 }, (_, at) => `const line${at + 1} = "${at + 1}";`);
    const run = await answered(`\`\`\`js\n${lines.join("\n")}\n\`\`\`\n\nThe end.`, 80);
    expect([...run.everything.matchAll(/^ {2}const line(\d+) =/gm)].map(([, n]) => Number(n))).toEqual(
      lines.map((_, at) => at + 1),
    );
    expect(await run.leave()).toBe(0);
  });
});
