/** What a user sees in each state of a turn. */

import { describe, expect, test } from "vitest";

import { emulatorOf, eventsOf, newPlace, onlyLog } from "../cli/harness.ts";
import { KEYS, onScreen, stalledAfter } from "./screen-harness.ts";

const THOUGHT = {
  reasoning: [
    "**Locating the failing step**\n\nThe build has three steps.",
    "**Reading the build log**\n\nThe log shows a missing export in `src/index.ts`.",
  ],
};
const STEPS = [{ output: [THOUGHT, { message: "The **exports** field lacks an entry.\n\nI can add it." }] }];

test("a generating thought is one row with the current title when folded, and ticked titles with the text so far when unfolded", async () => {
  const { env } = await stalledAfter(STEPS, "missing export");
  const run = onScreen(newPlace(), ["why does the build fail?"], { env });
  await run.shows("▸ Reading the build log…");
  expect(run.screen).toContain("› why does the build fail?");
  expect(run.screen).toContain("part 2");
  expect(run.screen).not.toContain("missing export");
  expect(run.screen).not.toContain("Locating");
  run.press(KEYS.controlT);
  await run.shows("▾ Reading the build log…");
  await run.shows("  The log shows a missing export"); // comes after the title
  expect(run.screen).toContain("  ✓ Locating the failing step");
  expect(run.screen).not.toContain("three steps");
  run.press(KEYS.controlT);
  await run.hides("missing export");
  expect(run.screen).toContain("▸ Reading the build log…");
  // Esc: the spinner stops with the log, and what was seen stays.
  run.press(KEYS.escape);
  await run.shows("■ Stopped.");
  await run.ready();
  await run.shows("▸ Thought · interrupted · 2 parts · Not sent · the turn was stopped");
  expect(await run.leave()).toBe(0);
});

test('a thought shows "Thinking…" until its first title is known', async () => {
  const { env } = await stalledAfter(STEPS, "**Loc");
  const run = onScreen(newPlace(), ["go"], { env });
  await run.shows("▸ Thinking…");
  // Stopped now, the part of the title so far is shown without its marks.
  run.press(KEYS.escape);
  await run.shows("■ Stopped.");
  await run.ready();
  run.press(KEYS.controlT);
  await run.shows("▾ Thought · interrupted");
  const label = "▾ Thought · interrupted · Not sent · the turn was stopped";
  expect(run.rows[run.rows.indexOf(label) + 1]).toMatch(/^ {2}Loc\w*$/);
  expect(await run.leave()).toBe(0);
});

test("a finished turn shows durations, parts and tokens; unfolded all parts; the answer as Markdown; the turn's facts", async () => {
  const { env } = await emulatorOf({ steps: STEPS });
  const run = onScreen(newPlace(), ["go"], { env, columns: 100 });
  await run.shows("─ Worked for");
  await run.ready();
  expect(run.screen).toMatch(/▸ Thought for [\d.]+(?:s| ms) · 2 parts · \d+ tokens/);
  expect(run.screen).toContain("The exports field lacks an entry.\n\nI can add it.");
  expect(run.screen).toMatch(/─ Worked for [\d.]+(?:s| ms) · 1 request · ↑\S+ ↓\S+ · \S+ reasoning ─/);
  run.press(KEYS.controlT);
  await run.shows("▾ Thought for");
  expect(run.screen).toContain(
    "  Locating the failing step\n  The build has three steps.\n  Reading the build log",
  );
  run.press(KEYS.controlT);
  await run.hides("three steps");
  // Status: directory, tokens with reasoning, context, model.
  expect(run.rows.at(run.rows.indexOf("❯") - 2)).toMatch(
    /work · go  │  ↑\S+ ↓\S+ \(\S+ reasoning\) ctx \S+ .*openai\/emu-reasoner$/,
  );
  expect(await run.leave()).toBe(0);
});

test("a thought without a summary says so and cannot be unfolded", async () => {
  const { env } = await emulatorOf({
    steps: [{ output: [{ reasoning: { summary: [] } }, { message: "Done." }] }],
  });
  const run = onScreen(newPlace(), ["go"], { env });
  await run.shows("─ Worked for");
  expect(run.screen).toMatch(/▸ Thought for [\d.]+(?:s| ms) · no summary/);
  run.press(KEYS.controlT);
  await run.say("x".repeat(3)); // once this is seen, the toggle has been drawn
  expect(run.screen).toMatch(/▸ Thought for [\d.]+(?:s| ms) · no summary/);
  await run.leave();
});

test("a failed turn shows the code, the message, and what to do", async () => {
  const steps = [
    { output: [], status: "failed", error: { code: "invalid_prompt", message: "No such thing." } },
  ];
  const { env } = await emulatorOf({ steps });
  const run = onScreen(newPlace(), ["go"], { env });
  await run.shows("✗ Failed: No such thing. [invalid_prompt]. /retry tries again.");
  await run.ready();
  await run.leave();
});

test("an attempt that broke off is folded away when it is repeated", async () => {
  const { env } = await emulatorOf({
    steps: [STEPS[0] ?? {}, STEPS[0] ?? {}],
    faults: [{ type: "cut", at: { where: "after", unit: "item", index: 0 } }],
  });
  const run = onScreen(newPlace(), ["go"], { env });
  await run.shows("─ Worked for");
  expect(run.screen).toContain("▸ An earlier attempt was cut off and retried");
  expect(run.screen.match(/▸ Thought/g)).toHaveLength(1);
  await run.leave();
});

test("the picker says what a model switch would leave behind, and the thought says so until the person switches back", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const run = onScreen(place, ["Think of a number."], { env, rows: 40 });
  await run.shows("─ Worked for");
  await run.ready();
  run.press(KEYS.controlL);
  await run.shows("Model");
  run.press("emu-plain");
  await run.shows("❯ emulator/emu-plain");
  await run.shows("1 stays in the log for the model that made it");
  run.press(KEYS.escape);
  await run.hides("Esc cancel");
  await run.say("/model openai/emu-plain");
  await run.shows("Next: openai/emu-plain.");
  await run.say("hello");
  await run.shows("You said: “hello”");
  await run.shows("Not sent · made by emu-reasoner, this model");
  await run.ready();
  expect(run.rows.at(run.rows.indexOf("❯") - 2)).toContain("openai/emu-plain");
  await run.say("/model openai/emu-reasoner");
  await run.hides("Not sent");
  await run.leave();
});

describe("a tool", () => {
  test("is one row when folded, shows its arguments and result when unfolded, and says why it failed", async () => {
    const place = newPlace();
    place.write("notes.txt", "first line\nsecond line\n");
    const { env } = await emulatorOf({
      steps: [
        {
          output: [
            { function_call: { name: "read_file", arguments: { path: "notes.txt" } } },
            { function_call: { name: "read_file", arguments: { path: "nothing.txt" } } },
          ],
        },
        { output: [{ message: "Read." }] },
      ],
    });
    const run = onScreen(place, ["go"], { env });
    await run.shows("─ Worked for");
    expect(run.screen).toMatch(/✓ Read notes\.txt · 2 lines · [\d.]+(?:s| ms)/);
    expect(run.screen).toMatch(/✗ Read nothing\.txt · failed · [\d.]+(?:s| ms)/);
    expect(run.screen).not.toContain("second line");
    run.press(KEYS.controlO);
    await run.shows("second line");
    expect(run.screen).toContain("    path: notes.txt");
    run.press(KEYS.controlO);
    await run.hides("second line");
    await run.leave();
  });
});

test("a reload shows what was shown before, and a killed process leaves no spinner running", async () => {
  const place = newPlace();
  const { env } = await stalledAfter([...STEPS, ...STEPS], "missing export");
  const first = onScreen(place, ["go"], { env });
  await first.shows("▸ Reading the build log…");
  process.kill(first.pty.pid, "SIGKILL");
  await first.ended;
  const run = onScreen(place, ["-c"], { env });
  await run.shows("The last turn was interrupted: /resume finishes it");
  await run.ready();
  expect(run.screen).not.toContain("Reading the build log…");
  await run.say("/resume");
  await run.shows("I can add it.");
  await run.ready();
  await run.leave();
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["completed"]);
});
