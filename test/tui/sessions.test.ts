/** Commands that change where a session continues, and two terminals on one session. */

import { readdirSync } from "node:fs";

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, logsOf, newPlace, onlyLog } from "../cli/harness.ts";
import { KEYS, onScreen, stalledAfter } from "./screen-harness.ts";

test("/retry, /edit, /undo, /effort, /inspect, /help and mistakes work", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const run = onScreen(place, ["Think of a number."], { env, rows: 60 });
  await run.shows("─ Worked for");
  await run.ready();
  await run.say("/retry");
  await run.shows("↩ Answering again");
  await run.until("two answers", ({ screen }) => (screen.match(/─ Worked/g) ?? []).length === 2);
  await run.ready();
  await run.say("/edit");
  await run.shows("❯ Think of a number.");
  run.press(" Or two.");
  await run.shows("❯ Think of a number. Or two.");
  run.press(KEYS.enter);
  await run.shows("↩ Message changed");
  await run.shows("› Think of a number. Or two.");
  await run.until("three answers", ({ screen }) => (screen.match(/─ Worked/g) ?? []).length === 3);
  await run.ready();
  await run.say("/undo");
  await run.shows("Undid the last message");
  await run.say("/effort low");
  await run.shows("Next: openai/emu-reasoner:low.");
  await run.say("/effort never");
  await run.shows("[effort_invalid]");
  await run.say("/nonsense");
  await run.shows("Unknown command /nonsense");
  await run.say("/inspect");
  await run.shows(/More: throughline inspect|Nothing has been said yet/);
  await run.say("/help");
  await run.shows("Ctrl+T");
  await run.say("/exit");
  expect(await run.ended).toBe(0);
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "branch").map(({ why }) => why)).toEqual(["retry", "edit", "undo"]);
});

test("/fork continues in a copy, /resume goes back to the first", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const run = onScreen(place, ["Think of a number."], { env });
  await run.shows("─ Worked for");
  await run.ready();
  const [first = ""] = (await logsOf(place)).keys();
  await run.say("/fork");
  await run.until(
    "the copy",
    () => readdirSync(place.sessions).filter((name) => name.endsWith(".jsonl")).length === 2,
  );
  await run.until("another session", ({ everything }) =>
    /session s_(\w+) · \/help[^]*session s_(?!\1)\w+ · \/help/.test(everything),
  );
  await run.ready();
  await run.say("hello");
  await run.shows("You said: “hello”");
  await run.ready();
  await run.say(`/resume ${first}`);
  await run.until("the first", ({ everything }) => everything.split(`session ${first}`).length === 3);
  await run.ready();
  expect(await run.leave()).toBe(0);
  expect(run.screen).toContain(`To continue: throughline -r ${first}`);
  const messages = [...(await logsOf(place)).values()].map(
    (events) => eventsOf(events, "user_message").length,
  );
  expect(messages.toSorted((a, b) => a - b)).toEqual([1, 2]);
});

test("a second terminal follows a session that is being written, says so, and takes over when the writer is gone", async () => {
  const place = newPlace();
  const steps = [
    { output: [{ reasoning: ["**Looking**\n\nAround."] }, { message: "One." }] },
    { output: [{ message: "Two." }] },
    { output: [{ message: "Three." }] },
  ];
  const { env } = await stalledAfter(steps, "Around");
  const writer = onScreen(place, ["go"], { env });
  await writer.shows("▸ Looking…");
  const { id } = await onlyLog(place);
  const reader = onScreen(place, ["-r", id], { env });
  await reader.shows("Another process is writing this session; following it.");
  await reader.shows("read-only");
  await reader.say("may I?");
  await reader.shows("Your text stays in the input.");
  await reader.shows("❯ may I?");
  writer.press(KEYS.escape);
  await writer.ready();
  await writer.say("again");
  await writer.shows("Two.");
  await reader.shows("› again");
  await reader.shows("Two.");
  await writer.leave();
  await reader.shows("No process is writing this session now. Press Enter to take over.");
  reader.press(KEYS.controlC); // clears the line
  await reader.shows("Cleared");
  reader.press(KEYS.enter);
  await reader.until("the session", ({ screen }) => !screen.includes("read-only") && screen.includes("❯"));
  await reader.say("mine now");
  await reader.shows("Three.");
  await reader.ready();
  expect(await reader.leave()).toBe(0);
});
