/** "Allow for this session" in the terminal and in the line chat: the rule is shown, holds after kill -9, and can be removed. */

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, newPlace, onlyLog, run as command } from "../cli/harness.ts";
import { onTerminal } from "../cli/pty.ts";
import { KEYS, onScreen } from "./screen-harness.ts";

const run = (...commands: readonly string[]): object => ({
  output: commands.map((text) => ({ function_call: { name: "run_command", arguments: { command: text } } })),
});
const say = (text: string): object => ({ output: [{ message: text }] });

test("a adds exactly the shown rule; it survives kill -9, /allow lists and removes it, and inspect names the calls", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({
    steps: [run("echo one"), run("echo held"), say("Never."), say("x"), run("echo one"), say("Again.")],
  });
  const first = onScreen(place, ["go"], { env });
  await first.shows("→ a allows for this session: run_command:echo one");
  first.press("a\r");
  await first.shows("allowed in this session: run_command:echo one");
  await first.shows("command: echo held");
  first.pty.kill("SIGKILL");
  await first.ended;

  const screen = onScreen(place, ["-c"], { env });
  await screen.ready();
  await screen.say("/allow");
  await screen.shows("run_command:echo one  (for this session)");
  await screen.say("go on"); // closes the interrupted turn
  await screen.shows("Never.");
  await screen.ready();
  await screen.say("more");
  await screen.shows("─");
  await screen.ready();
  await screen.say("once more");
  await screen.shows("Again."); // without a question
  await screen.ready();
  await screen.say("/allow remove run_command:echo one");
  await screen.shows("No longer allowed: run_command:echo one");
  await screen.say("/allow");
  await screen.shows("No rules");
  await screen.say("/allow run_command:git * | x");
  await screen.shows("[allow_rule_invalid]");
  await screen.say("/allow run_command:git *");
  await screen.shows("Allowed for this session: run_command:git *");
  await screen.shows("An allowed program may run others.");
  await screen.leave();

  const { id, events } = await onlyLog(place);
  expect(eventsOf(events, "permission_rule").map(({ rule, removed }) => [rule, removed])).toEqual([
    ["run_command:echo one", undefined],
    ["run_command:echo one", true],
    ["run_command:git *", undefined],
  ]);
  expect(
    eventsOf(events, "permission_decision").map(({ by, decision, rule }) => [by, decision, rule]),
  ).toEqual([
    ["person", "allow", undefined],
    ["policy", "allow", "run_command:echo one"],
  ]);
  const { out } = await command(place, ["inspect", id]);
  expect(out).toContain("allowed in this session: run_command:git *");
  expect(out).toMatch(/run_command · ok · \d+ ms · allowed by run_command:echo one/);
});

test("the line chat for a screen reader offers it as the third choice and says what it means", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({ steps: [run("echo one"), run("echo one"), say("After both.")] });
  const chat = onTerminal(place, ["--screen-reader", "go"], env);
  await chat.shows("For this session means: run_command:echo one");
  await chat.shows("Type 1 for yes, 2 for no, 3 for yes in this whole session (Enter means no): ");
  chat.type("3");
  await chat.shows("After both.");
  await chat.shows("Done, ");
  chat.press(KEYS.controlD);
  await chat.ended;
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "permission_request")).toHaveLength(1);
  expect(eventsOf(events, "permission_decision").map(({ rule }) => rule)).toEqual([
    undefined,
    "run_command:echo one",
  ]);
});
