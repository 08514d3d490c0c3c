/** `/skill:NAME` in the line chat and on a real screen. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { onScreen, KEYS } from "../tui/screen-harness.ts";
import { emulatorOf, eventsOf, newPlace, onlyLog, type Place } from "./harness.ts";
import { says } from "./mcp-fixture.ts";
import { onTerminal } from "./pty.ts";

function withSkill(place: Place): void {
  const folder = join(place.home, ".agents", "skills", "tidy");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "SKILL.md"),
    "---\nname: tidy\ndescription: Tidies up.\n---\nSort @notes.txt first.\n",
  );
}

test("the line chat lists skills in its help, sends one with the task, and suggests a name", async () => {
  const place = newPlace();
  withSkill(place);
  place.write("notes.txt", "must not be attached");
  const { env } = await emulatorOf({ steps: [says("Tidied.")] });
  const terminal = onTerminal(place, [], env);
  await terminal.shows("› ");
  terminal.type("/help");
  await terminal.shows("Skills: /skill:tidy");
  await terminal.shows("› ");
  terminal.type("/skill:tdy");
  await terminal.shows('there is no skill "tdy"; did you mean');
  await terminal.shows("› ");
  terminal.type("/skill:tidy the desk");
  await terminal.shows("Tidied.");
  await terminal.shows("› ");
  terminal.type("/exit");
  expect((await terminal.ended).code).toBe(0);
  const { events } = await onlyLog(place);
  const [message, ...more] = eventsOf(events, "user_message").flatMap(({ content }) => content);
  expect(more).toEqual([]);
  expect(message).toMatchObject({
    type: "text",
    text: expect.stringContaining("Sort @notes.txt first.") as string,
  });
  expect(message).toMatchObject({ text: expect.stringMatching(/The task:\n\nthe desk$/) as string });
});

test("the full interface completes the name of a skill", async () => {
  const place = newPlace();
  withSkill(place);
  const { env } = await emulatorOf({ steps: [says("Tidied.")] });
  const screen = onScreen(place, [], { env });
  await screen.ready();
  screen.press("/sk");
  await screen.shows("Tidies up.");
  screen.press(KEYS.tab);
  await screen.shows("❯ /skill:tidy");
  screen.press(" now\r");
  await screen.shows("Tidied.");
  await screen.ready();
  await screen.leave();
});
