/** MCP servers on a real screen. The server is a real process. */

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, newPlace, onlyLog } from "../cli/harness.ts";
import { callEcho, says, withServers } from "../cli/mcp-fixture.ts";
import { KEYS, onScreen } from "./screen-harness.ts";

test("/mcp, completion of prompts, the question about a call and its row", async () => {
  const place = newPlace();
  const flags = withServers(place);
  const { env } = await emulatorOf({ steps: [callEcho("hi"), says("Done."), says("Prompted.")] });
  const screen = onScreen(place, [...flags, "go"], { env });
  await screen.shows("? Allow all/echo (run)?");
  await screen.shows("MCP server all, its tool echo");
  await screen.shows("message: hi");
  screen.press("y\r");
  await screen.shows("Done.");
  await screen.ready();
  expect(screen.everything).toContain("✓ all/echo");
  expect(screen.everything).not.toContain("mcp__all__echo hi");
  await screen.say("/mcp");
  await screen.shows(/all connected, \d+ tools/);
  await screen.shows("gone failed: there is no such program");
  await screen.ready();
  screen.press("/");
  await screen.shows("/model");
  screen.press("all:ar");
  await screen.shows("/all:args-prompt");
  screen.press(KEYS.tab);
  await screen.shows("❯ /all:args-prompt");
  screen.press(" city=Rome\r");
  await screen.shows("Prompted.");
  await screen.ready();
  await screen.leave();
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "user_message")[1]?.content).toEqual([
    { type: "text", text: expect.stringContaining("Rome") as string },
  ]);
});
