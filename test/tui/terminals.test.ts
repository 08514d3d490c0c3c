/** Sizes, scrollback, terminals and users of all kinds. */

import { describe, expect, test } from "vitest";

import { emulatorOf, newPlace, run as runInPipe } from "../cli/harness.ts";
import { KEYS, onScreen, stalledAfter } from "./screen-harness.ts";

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `Paragraph ${from + at} of the answer.`).join("\n\n");

test("a long answer goes into the scrollback once, whole and in order; earlier content stays", async () => {
  const { env } = await emulatorOf({ steps: [{ output: [{ message: numbered(1, 60) }] }] });
  const run = onScreen(newPlace(), ["go"], { env });
  run.terminal.write("$ a line of the shell\r\n");
  await run.shows("─ Worked for");
  await run.ready();
  expect(await run.leave()).toBe(0);
  const all = run.everything;
  expect(all.startsWith("$ a line of the shell\n")).toBe(true);
  expect([...all.matchAll(/Paragraph (\d+) of/g)].map(([, n]) => Number(n))).toEqual(
    Array.from({ length: 60 }, (_, at) => at + 1),
  );
  expect(all.match(/● Working/g)).toBeNull();
  expect(all.match(/❯/g)).toBeNull(); // the input is removed at the end
  expect(run.bytes).not.toContain("\u001B[?1049h");
  expect(run.bytes).not.toContain("\u001B[3J");
  expect(run.bytes).not.toContain("\u001B[2J");
});

test("if the thought has scrolled away, Ctrl+T prints the last turn once more, unfolded, and says so", async () => {
  const output = [{ reasoning: ["**Looking around**\n\nA while."] }, { message: numbered(1, 20) }];
  const { env } = await emulatorOf({ steps: [{ output }] });
  const run = onScreen(newPlace(), ["go"], { env });
  await run.shows("─ Worked for");
  await run.ready();
  expect(run.screen).not.toContain("Thought for");
  run.press(KEYS.controlT);
  await run.shows("Thoughts unfolded: the last turn is printed again.");
  await run.until("the thought", ({ everything }) => everything.includes("▾ Thought for"));
  expect(run.everything).toContain("A while.");
  expect(run.everything.match(/Paragraph 7 of/g)).toHaveLength(2);
  run.press(KEYS.controlT);
  await run.shows("Thoughts folded; rows that have scrolled away stay as they are.");
  run.press(KEYS.controlT);
  await run.shows("Thoughts unfolded.");
  expect(run.everything.match(/Paragraph 7 of/g)).toHaveLength(2);
  expect(await run.leave()).toBe(0);
});

test("every update is one synchronized write, and the terminal is restored at the end", async () => {
  const { env } = await emulatorOf();
  const run = onScreen(newPlace(), ["Think of a number."], { env });
  await run.shows("─ Worked for");
  await run.ready();
  await run.leave();
  const begun = run.bytes.split("\u001B[?2026h").length - 1;
  expect(begun).toBeGreaterThan(2);
  expect(run.bytes.split("\u001B[?2026l").length - 1).toBe(begun);
  expect(run.bytes.lastIndexOf("\u001B[?2004l")).toBeGreaterThan(run.bytes.lastIndexOf("\u001B[?2004h"));
  expect(run.bytes.lastIndexOf("\u001B[?25h")).toBeGreaterThan(run.bytes.lastIndexOf("\u001B[?25l"));
  expect(run.terminal.modes.bracketedPasteMode).toBe(false);
});

describe("a resized or narrow terminal", () => {
  test.for([
    [100, 40],
    [40, 24],
    [20, 20],
    [132, 50],
  ] as const)(
    "at %d columns and %d rows, while it thinks and after, has one input, one status, nothing twice",
    async ([columns, rows]) => {
      const steps = [
        { output: [{ reasoning: ["**Looking around**\n\nA while."] }, { message: numbered(1, 3) }] },
        { output: [{ message: "The end of it." }] },
      ];
      const { emulator, env } = await stalledAfter(steps, "A wh");
      const run = onScreen(newPlace(), ["go"], { env });
      await run.shows("▸ Looking around…");
      await run.nextFrame();
      const before = run.bytes.length;
      run.resize(columns, rows);
      await run.until(
        "the new size",
        ({ rows: shown }) => shown.filter((row) => row === "─".repeat(columns)).length === 1,
      );
      expect(run.everything.match(/❯/g)).toHaveLength(1);
      expect(run.bytes.slice(before)).not.toContain("›"); // finished output is not drawn again
      expect(run.everything.match(/Looking\s+around/g)).toHaveLength(1);
      run.press(KEYS.escape);
      await run.shows("■ Stopped.");
      await run.ready();
      emulator.addFaults({ type: "none" });
      await run.say("and?");
      await run.shows(/The end of\s+it\.|Paragraph 3 of\s+the\s+answer/);
      await run.ready();
      run.resize(80, 24);
      await run.until(
        "the old size",
        ({ rows: shown }) => shown.filter((row) => row === "─".repeat(80)).length === 1,
      );
      await run.ready();
      expect(run.everything.match(/❯/g)).toHaveLength(1);
      expect(run.everything.match(/■ Stopped/g)).toHaveLength(1);
      expect(await run.leave()).toBe(0);
    },
  );

  test("of 20 columns from the start fits everything, the question included", async () => {
    const { env } = await emulatorOf({
      steps: [
        {
          output: [
            { reasoning: ["**Considering a rather long title**\n\nBody."] },
            {
              function_call: { name: "run_command", arguments: { command: "echo one two three four five" } },
            },
          ],
        },
        // Long enough that the thought has scrolled away, however few frames of it were drawn.
        {
          output: [
            {
              message: `${numbered(1, 8)}\n\n| a | b |\n|---|---|\n| one | two |\n\nDone with 日本語日本語日本語.`,
            },
          ],
        },
      ],
    });
    const run = onScreen(newPlace(), ["please do it"], { env, columns: 20, rows: 24 });
    await run.shows("? Allow run_command");
    await run.shows("│ echo one two");
    run.press("y\r");
    const turnsEnded = (count: number): Promise<void> =>
      run.until(`${count} ends`, ({ everything }) => everything.split("─ Worked").length === count + 1);
    await run.shows("日本語");
    await turnsEnded(1);
    await run.ready();
    expect(run.rows.every((row) => row.length <= 20)).toBe(true);
    expect(run.flat).toContain("openai/emu-reasoner");
    run.press(KEYS.controlT); // shows the last turn once more, including its end
    await turnsEnded(2);
    await run.say("ok");
    await turnsEnded(3);
    await run.ready();
    expect(await run.leave()).toBe(0);
  });

  test("shows /help on one screen of 80 columns and 24 rows, and whole at 40 columns", async () => {
    const { env } = await emulatorOf();
    const whole = onScreen(newPlace(), [], { env });
    await whole.ready();
    await whole.say("/help");
    await whole.shows("/exit");
    await whole.ready();
    for (const one of ["Enter ", "Ctrl+T", "@ ", "/model ", "/resume ", "/rename title"])
      expect(whole.screen).toContain(one);
    await whole.leave();
    const narrow = onScreen(newPlace(), [], { env, columns: 40 });
    await narrow.ready();
    await narrow.say("/help");
    await narrow.shows("/exit");
    expect(/Enter [^]*\/exit.*/.exec(narrow.everything)?.[0]).not.toContain("…");
    expect(narrow.flat).toContain("change the last message, on a new branch");
    await narrow.leave();
  });

  test("of 20 columns still shows how to exit when a turn is stopped", async () => {
    const { env } = await stalledAfter([{ output: [{ message: "Never the end." }] }], "Never");
    const run = onScreen(newPlace(), ["go on"], { env, columns: 20, rows: 24 });
    await run.shows("Never");
    run.press(KEYS.controlC);
    await run.shows("Press Ctrl+C again to exit.");
    run.press(KEYS.controlC);
    expect(await run.ended).toBe(0);
  });
});

test("NO_COLOR removes colours, but no information", async () => {
  const { env } = await emulatorOf();
  const run = onScreen(newPlace(), ["Think of a number."], { env: { ...env, NO_COLOR: "1" } });
  await run.shows("─ Worked for");
  await run.ready();
  await run.leave();
  // oxlint-disable-next-line no-control-regex -- that is what it looks for
  const codes = [...run.bytes.matchAll(/\u001B\[([\d;]*)m/g)].map(([, code]) => code);
  expect(codes.filter((code) => code !== "0")).toEqual([]);
});

describe.for([
  ["--screen-reader", ["--screen-reader"], {}],
  ["ACCESSIBLE", [], { ACCESSIBLE: "1" }],
] as const)("%s", ([, flags, variables]) => {
  test("gives lines and sentences: no cursor movement, choices by number, default no", async () => {
    const place = newPlace();
    const steps = [
      {
        output: [
          { reasoning: ["**Weighing it**\n\nBody."] },
          { function_call: { name: "run_command", arguments: { command: "touch made" } } },
        ],
      },
      { output: [{ message: "The end." }] },
    ];
    const { env } = await emulatorOf({ steps });
    const run = onScreen(place, [...flags, "go"], {
      env: { ...env, ...variables, NO_COLOR: "1" },
      columns: 120,
    });
    await run.shows("Thinking: Weighing it.");
    await run.shows(/Thought for (?:less than a second|\d+ seconds?), 1 part\./);
    await run.shows("Allow execute: run_command");
    await run.shows("Type 1 for yes, 2 for no, 3 for yes in this whole session");
    run.press("1\r");
    await run.shows("Tool run_command: done.");
    await run.shows("The end.");
    await run.shows("Done, 2 requests");
    run.press("/effort\r");
    await run.shows("Number, 1 to");
    run.press("4\r");
    await run.shows("Next: openai/emu-reasoner:low.");
    run.press(KEYS.controlD);
    expect(await run.ended).toBe(0);
    expect(run.screen).not.toMatch(/[▸✓─●❯]/);
  });
});

/** The words of a text, without times and counts, which differ from run to run, and words too long for a row. */
const words = (text: string): readonly string[] =>
  text.split(/\s+/).filter((word) => word !== "" && word.length < 30 && !/^[\d.]+s$|^\d+$/.test(word));

test("at 40 columns the other commands break lines between words; a pipe gets them unchanged", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await runInPipe(place, ["-p", "Think of a number."], { env });
  for (const args of [
    ["inspect", "--last"],
    ["sessions", "show", "--last"],
    ["doctor", "--offline"],
    ["models"],
  ]) {
    const piped = (await runInPipe(place, args, { env })).out;
    const run = onScreen(place, args, { env, columns: 40, rows: 60 });
    await run.ended;
    const missing = (): readonly string[] => {
      const seen = new Set(words(run.everything));
      return words(piped).filter((word) => !seen.has(word));
    };
    // The terminal may deliver the last bytes after the exit event.
    await expect.poll(missing, { message: args.join(" ") }).toEqual([]);
  }
});

test("TERM=dumb gives lines, without a single escape", async () => {
  const { env } = await emulatorOf();
  const run = onScreen(newPlace(), ["Think of a number."], { env: { ...env, TERM: "dumb" } });
  await run.shows("─ 1 request");
  run.press(KEYS.controlD);
  expect(await run.ended).toBe(0);
  expect(run.bytes).not.toContain("\u001B");
});

test.for([
  [
    "a screen reader",
    ["--screen-reader"],
    {},
    /Not sent with the next request: Thought for [^.]*[\d.]* ?m?s[^.]*\. Reason: the stream was cut, attempt 2 took its place\./,
  ],
  [
    "plain lines",
    [],
    { TERM: "dumb" },
    /⊘ Thought for .* · Not sent · the stream was cut, attempt 2 took its place/,
  ],
] as const)(
  "%s: a thought that is not sent is named at the end of its turn, and no other",
  async ([, flags, variables, line]) => {
    const answer = { output: [{ reasoning: ["**Weighing it**\n\nBody."] }, { message: "The end." }] };
    const { env } = await emulatorOf({
      steps: [answer, answer],
      faults: [{ type: "cut", at: { where: "after", unit: "item", index: 0 } }],
    });
    const run = onScreen(newPlace(), [...flags, "go"], { env: { ...env, ...variables }, columns: 160 });
    await run.shows(line);
    expect(run.screen.match(/Not sent/g)).toHaveLength(1);
    run.press(KEYS.controlD);
    expect(await run.ended).toBe(0);
  },
);
