/** The full interface on the sessions of a server. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, newPlace, onlyLog } from "../cli/harness.ts";
import { KEYS } from "./screen-harness.ts";
import { onServer, serve } from "./server-harness.ts";

test("the whole conversation, every command and the way back work", async () => {
  const there = newPlace();
  const { env } = await emulatorOf();
  const server = await serve(there, env);
  const screen = onServer(server, ["Think of a number."], { rows: 70, columns: 120 });
  await screen.shows(`on ${new URL(server.url).host}`);
  await screen.shows("─ Worked for");
  await screen.ready();
  await screen.say("/retry");
  await screen.shows("↩ Answering again");
  await screen.until("two answers", ({ screen: shown }) => (shown.match(/─ Worked/g) ?? []).length === 2);
  await screen.ready();
  await screen.say("/edit");
  await screen.shows("❯ Think of a number.");
  screen.press(" Or two.");
  await screen.shows("❯ Think of a number. Or two.");
  screen.press(KEYS.enter);
  await screen.until("three answers", ({ screen: shown }) => (shown.match(/─ Worked/g) ?? []).length === 3);
  await screen.ready();
  await screen.say("/undo");
  await screen.shows("Undid the last message");
  await screen.say("/effort low");
  await screen.shows("Next: openai/emu-reasoner:low.");
  await screen.say("/model emulator/emu-plain");
  await screen.shows("Next: emulator/emu-plain.");
  await screen.say("/model openai/emu-reasoner");
  await screen.shows("Next: openai/emu-reasoner.");
  await screen.say("/rename A number");
  await screen.shows("This session is now called “A number”.");
  await screen.say("/inspect");
  await screen.shows(/More: http:\/\/127\.0\.0\.1:\d+\/s\/s_|Nothing has been said yet/);
  await screen.say("/help");
  await screen.shows("Ctrl+T");
  await screen.say("hello");
  await screen.shows("You said: “hello”");
  await screen.ready();
  await screen.say("/compact");
  await screen.shows("Done. The next request sends the summary instead.");
  await screen.say("/export talk.md");
  await screen.shows("Written:");
  expect(readFileSync(join(screen.place.work, "talk.md"), "utf8")).toContain("# A number");
  await screen.say("/export talk.jsonl");
  await screen.until("the second file", ({ everything }) => everything.split("Written:").length === 3);
  await screen.ready();
  expect(await screen.leave()).toBe(0);
  const { id, events, file } = await onlyLog(there);
  expect(screen.flat).toContain(`To continue: throughline --server ${server.url} -r ${id}`);
  expect(
    eventsOf(events, "branch")
      .map(({ why }) => why)
      .slice(0, 3),
  ).toEqual(["retry", "edit", "undo"]);
  expect(
    readFileSync(join(screen.place.work, "talk.jsonl"), "utf8").startsWith(readFileSync(file, "utf8")),
  ).toBe(true);
  expect(existsSync(screen.place.sessions)).toBe(false); // nothing of it is kept here
});

test("/fork continues in a copy on the server, /resume goes back, and a second terminal sees the same", async () => {
  const there = newPlace();
  const { env } = await emulatorOf();
  const server = await serve(there, env);
  const screen = onServer(server, ["Think of a number."]);
  await screen.shows("─ Worked for");
  await screen.ready();
  const { id } = await onlyLog(there);
  const other = onServer(server, ["-r", id]);
  await other.shows("─ Worked for");
  await screen.say("and now?");
  await screen.shows("You said: “and now?”");
  await other.shows("You said: “and now?”");
  await screen.ready();
  await screen.say("/fork");
  await screen.until(
    "the copy",
    () => readdirSync(there.sessions).filter((name) => name.endsWith(".jsonl")).length === 2,
  );
  await screen.until("another session", ({ everything }) =>
    /session s_(\w+) on [^]*session s_(?!\1)\w+ on /.test(everything),
  );
  await screen.ready();
  await screen.say(`/resume ${id}`);
  await screen.until("the first", ({ everything }) => everything.split(`session ${id}`).length === 3);
  await screen.ready();
  expect(await screen.leave()).toBe(0);
  expect(await other.leave()).toBe(0);
});

test("a question of the server's tools can be answered here, and Esc stops the turn there", async () => {
  const there = newPlace();
  const { env } = await emulatorOf({
    steps: [
      { output: [{ function_call: { name: "run_command", arguments: { command: "touch made" } } }] },
      { output: [{ message: "The end." }] },
    ],
  });
  const server = await serve(there, env);
  const screen = onServer(server, ["go"]);
  await screen.shows("? Allow run_command");
  screen.press("y\r");
  await screen.shows("The end.");
  await screen.ready();
  expect(readdirSync(there.work)).toContain("made"); // its tools run there
  screen.press("@");
  await screen.shows("Files are on the server");
  screen.press(KEYS.backspace);
  await screen.leave();
});
