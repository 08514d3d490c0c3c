/** A server that goes away, and a user who leaves. */

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, newPlace, onlyLog } from "../cli/harness.ts";
import { KEYS, stalledAfter } from "./screen-harness.ts";
import { onServer, serve } from "./server-harness.ts";

test("if the server goes away while nothing runs, a message waits and is sent automatically when it is back", async () => {
  const there = newPlace();
  const { env } = await emulatorOf();
  const server = await serve(there, env);
  const screen = onServer(server, ["Think of a number."]);
  await screen.shows("─ Worked for");
  await screen.ready();
  server.child.kill("SIGKILL");
  await server.exited;
  await screen.shows("The server does not answer. Reconnecting…");
  await screen.say("hello");
  await screen.shows("⋯ hello");
  await serve(there, env, Number(new URL(server.url).port));
  await screen.shows("You said: “hello”");
  await screen.ready();
  expect(await screen.leave()).toBe(0);
  const { events } = await onlyLog(there);
  expect(eventsOf(events, "user_message")).toHaveLength(2);
});

test("a user who leaves stops nothing: the turn continues on the server, and a message says so", async () => {
  const there = newPlace();
  const { env } = await stalledAfter([{ output: [{ message: "Never the end." }] }], "Never");
  const server = await serve(there, env);
  const screen = onServer(server, ["go"]);
  await screen.shows("Never");
  screen.press(KEYS.controlD);
  expect(await screen.ended).toBe(0);
  expect(screen.flat).toContain("The turn continues on the server.");
  const again = onServer(server, ["-c"]);
  await again.shows("Never");
  await again.shows("● Working");
  again.press(KEYS.escape);
  await again.shows("■ Stopped.");
  await again.ready();
  expect(await again.leave()).toBe(0);
});
