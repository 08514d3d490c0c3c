/** A question that was open when the process was killed: after a resume it is asked again, and the answer counts. */

import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, newPlace, onlyLog, type Place } from "../cli/harness.ts";
import { onTerminal } from "../cli/pty.ts";
import { KEYS, onScreen, type ScreenRun } from "./screen-harness.ts";
import { onServer, serve } from "./server-harness.ts";

const STEPS = [
  { output: [{ function_call: { name: "run_command", arguments: { command: "touch made" } } }] },
  { output: [{ message: "After it." }] },
];
const RESUME = "Run touch made · /resume to answer";

async function expectAnswered(place: Place): Promise<void> {
  expect(existsSync(join(place.work, "made"))).toBe(true);
  const { events } = await onlyLog(place);
  const asked = eventsOf(events, "permission_request");
  expect(asked).toHaveLength(2);
  expect(new Set(asked.map(({ callId, argumentsHash }) => `${callId} ${argumentsHash}`)).size).toBe(1);
  expect(eventsOf(events, "permission_decision")).toMatchObject([
    { decision: "allow", by: "person", requestId: asked[1]?.requestId },
  ]);
  expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["completed"]);
}

async function killed(run: ScreenRun): Promise<void> {
  run.pty.kill("SIGKILL");
  await run.ended;
}

test("kill -9 at a question, then -c, /resume and y runs the call", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({ steps: STEPS });
  const first = onScreen(place, ["go"], { env });
  await first.shows("? Allow run_command");
  await killed(first);
  const run = onScreen(place, ["-c"], { env });
  await run.shows("/resume finishes it");
  await run.ready();
  expect(run.flat).toContain(RESUME);
  expect(run.screen).not.toContain("waits for your answer");
  await run.say("/resume");
  await run.shows("? Allow run_command");
  await run.shows("y + Enter allows");
  run.press("y\r");
  await run.shows("After it.");
  await run.ready();
  expect(run.everything).not.toContain("permission_not_pending");
  await run.leave();
  await expectAnswered(place);
});

test("a killed server: both terminals learn that a resume asks again, either may resume, and either may answer", async () => {
  const there = newPlace();
  const { env } = await emulatorOf({ steps: STEPS });
  const server = await serve(there, env);
  const first = onServer(server, ["go"]);
  await first.shows("? Allow run_command");
  const second = onServer(server, ["-c"]);
  await second.shows("? Allow run_command");
  server.child.kill("SIGKILL");
  await server.exited;
  await first.shows("The server does not answer");
  await serve(there, env, Number(new URL(server.url).port));
  for (const one of [first, second]) {
    await one.shows("in the middle of the turn: /resume finishes it");
    await one.ready();
    await one.shows(RESUME);
  }
  await first.say("/resume");
  for (const one of [first, second]) await one.shows("? Allow run_command");
  second.press("y\r");
  for (const one of [first, second]) {
    await one.shows("After it.");
    await one.ready();
    expect(one.everything).not.toContain("permission_not_pending");
  }
  await first.leave();
  await second.leave();
  await expectAnswered(there);
});

test("a terminal that opens the session of a killed server resumes it and answers", async () => {
  const there = newPlace();
  const { env } = await emulatorOf({ steps: STEPS });
  const server = await serve(there, env);
  const first = onServer(server, ["go"]);
  await first.shows("? Allow run_command");
  await killed(first);
  server.child.kill("SIGKILL");
  await server.exited;
  const again = await serve(there, env);
  const run = onServer(again, ["-c"]);
  await run.shows("/resume finishes it");
  await run.ready();
  await run.say("/resume");
  await run.shows("? Allow run_command");
  await run.shows("y + Enter allows");
  run.press("y\r");
  await run.shows("After it.");
  await run.ready();
  await run.leave();
  await expectAnswered(there);
});

for (const args of [[], ["--server"]] as const) {
  test(`the line chat asks again after a resume${args.length === 0 ? "" : " over a server"}`, async () => {
    const place = newPlace();
    const { env } = await emulatorOf({ steps: STEPS });
    let server = args.length === 0 ? undefined : await serve(place, env);
    const where = (): readonly string[] => (server === undefined ? [] : ["--server", server.url]);
    const token = { THROUGHLINE_TOKEN: "0123456789abcdef0123456789abcdef" };
    const first = onTerminal(place, ["--screen-reader", ...where(), "go"], { ...env, ...token });
    await first.shows("Allow execute: run_command");
    first.kill();
    await first.ended;
    if (server !== undefined) {
      server.child.kill("SIGKILL");
      await server.exited;
      server = await serve(place, env);
    }
    const run = onTerminal(place, ["--screen-reader", ...where(), "-c"], { ...env, ...token });
    await run.shows("/resume finishes it");
    await run.shows("You: ");
    run.type("/resume");
    await run.shows("Allow execute: run_command");
    run.type("1");
    await run.shows("After it.");
    await run.shows("Done, ");
    run.press(KEYS.controlD);
    await run.ended;
    await expectAnswered(place);
  });
}
