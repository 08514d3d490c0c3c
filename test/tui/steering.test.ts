/** Steering on a real screen: Ctrl+S sends the message into the running turn, and it appears where it joined. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, newPlace, onlyLog, type Place, toolsFile } from "../cli/harness.ts";
import { onTerminal } from "../cli/pty.ts";
import { saidIn } from "../contracts/steer-fixture.ts";
import { KEYS, onScreen } from "./screen-harness.ts";
import { onServer, serve } from "./server-harness.ts";

const CONTROL_S = "\u0013";

/** A tool that ends when the test says so. */
function heldTool(place: Place): { readonly file: string; readonly finish: () => void } {
  const flag = join(place.work, "go");
  const file = toolsFile(
    place,
    `import { existsSync } from "node:fs";
     import { setTimeout } from "node:timers/promises";
     export default [tool({
       name: "hold", description: "Waits", input: { type: "object", properties: {} }, access: "read",
       run: async (_, { signal }) => {
         while (!existsSync(${JSON.stringify(flag)})) await setTimeout(10, undefined, { signal });
         return "held";
       },
     })];`,
  );
  return { file, finish: () => writeFileSync(flag, "") };
}

const STEPS = [
  { output: [{ function_call: { name: "hold", arguments: {} } }] },
  { output: [{ message: "The answer to both." }] },
  { output: [{ message: "The answer to the third." }] },
];

test("Ctrl+S sends the message into the turn; it waits below, then appears between the tool and the answer", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf({ steps: STEPS });
  const hold = heldTool(place);
  const run = onScreen(place, ["--tools", hold.file, "first message"], { env });
  await run.shows("Esc stops");
  await run.shows("hold");
  await run.say("queued message");
  await run.shows("⋯ queued message");
  run.press("joins now");
  await run.shows("Esc stops · Ctrl+S sends now · 1 queued");
  run.press(CONTROL_S);
  await run.shows("↪ joins now");
  await run.shows("Sent; joins the turn before its next request");
  await run.until("an empty input", ({ screen }) => !screen.includes("❯ joins now"));
  hold.finish();
  await run.shows("The answer to the third.");
  await run.ready();
  const { screen } = run;
  const order = ["› first message", "hold", "↪ joins now", "The answer to both.", "› queued message"];
  expect(order.map((text) => screen.indexOf(text)).every((at) => at !== -1)).toBe(true);
  expect(order.toSorted((a, b) => screen.indexOf(a) - screen.indexOf(b))).toEqual(order);
  expect(screen).not.toContain("joins the turn before");
  await run.leave();
  const { events } = await onlyLog(place);
  const [first] = saidIn(events).map((text) => text.split(":")[0]);
  expect(saidIn(events).map((text) => text.replace(/<\S+:/, "<:"))).toEqual([
    `${first}: first message`,
    `${first}<: joins now`,
    expect.stringMatching(/: queued message$/),
  ]);
  expect(emulator.exchanges[1]?.requestText).toContain("joins now");
});

test("Ctrl+C withdraws a message that has not joined and holds it; Ctrl+S without a turn sends as Enter does", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({ steps: STEPS });
  const hold = heldTool(place);
  const run = onScreen(place, ["--tools", hold.file, "first message"], { env });
  await run.shows("hold");
  run.press("not yet");
  await run.shows("❯ not yet");
  run.press(CONTROL_S);
  await run.shows("↪ not yet");
  run.press(KEYS.controlC);
  await run.shows("On hold: Enter to send them, Alt+Up to edit them");
  await run.shows("⋯ not yet");
  run.press(KEYS.altUp);
  await run.shows("❯ not yet");
  hold.finish();
  run.press(CONTROL_S);
  await run.shows("› not yet");
  await run.shows("The answer to both.");
  await run.ready();
  await run.leave();
  const { events } = await onlyLog(place);
  expect(saidIn(events).map((text) => text.replace(/^\S+: /, ""))).toEqual(["first message", "not yet"]);
});

test("a message joins a turn on a server", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({
    steps: [
      { output: [{ function_call: { name: "run_command", arguments: { command: "echo hello" } } }] },
      { output: [{ message: "The answer to both." }] },
    ],
  });
  const server = await serve(place, env);
  const run = onServer(server, ["first message"]);
  await run.shows("echo hello");
  run.press(KEYS.tab);
  await run.shows("Press Tab to answer");
  run.press("joins now");
  await run.shows("❯ joins now");
  run.press(CONTROL_S);
  await run.shows("↪ joins now");
  run.press(KEYS.tab);
  await run.say("y");
  await run.shows("The answer to both.");
  await run.ready();
  expect(run.screen.indexOf("↪ joins now")).toBeGreaterThan(run.screen.indexOf("echo hello"));
  await run.leave();
});

test("/now TEXT does the same in plain lines", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({ steps: STEPS });
  const hold = heldTool(place);
  const terminal = onTerminal(place, ["--tools", hold.file, "first message"], env);
  await terminal.shows("hold");
  terminal.type("/now joins now");
  await terminal.shows("Sent; it joins the turn before its next request.");
  hold.finish();
  await terminal.shows("↪ joins now");
  await terminal.shows("The answer to both.");
  terminal.type("/now a third");
  await terminal.shows("The answer to the third.");
  terminal.type("/exit");
  expect((await terminal.ended).code).toBe(0);
  const { events } = await onlyLog(place);
  expect(saidIn(events).map((text) => text.replace(/^\S+: /, ""))).toEqual([
    "first message",
    "joins now",
    "a third",
  ]);
});
