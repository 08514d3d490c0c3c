/** A server that goes away in the middle of a turn: no time is counted, nothing is lost, everything continues. */

import { expect, test } from "vitest";

import { eventsOf, newPlace, onlyLog } from "../cli/harness.ts";
import { KEYS, stalledAfter } from "./screen-harness.ts";
import { onServer, serve } from "./server-harness.ts";

const STEPS = [{ output: [{ message: "Never the end." }] }, { output: [{ message: "Here again." }] }];

test("a lost server is reported, no time is counted meanwhile, and messages sent then arrive when it is back", async () => {
  const there = newPlace();
  const { env } = await stalledAfter(STEPS, "Never");
  const server = await serve(there, env);
  const screen = onServer(server, ["go"], { columns: 40 });
  await screen.shows("Never");
  await screen.shows("● Working");
  server.child.kill("SIGKILL");
  await server.exited;
  await screen.shows("The server does not answer. Reconnecting…");
  expect(screen.screen).not.toContain("Working");
  screen.press(KEYS.escape);
  await screen.shows("so the turn cannot be stopped now");
  await screen.say("still there?");
  await screen.shows("⋯ still there?");
  await screen.shows("Sent when the server is back; Alt+Up to edit them");
  expect(screen.screen).not.toContain("Working");
  await serve(there, env, Number(new URL(server.url).port));
  await screen.shows("Here again.");
  await screen.ready();
  expect(screen.flat).toContain(
    "in the middle of the turn: it continues with the messages you sent meanwhile.",
  );
  expect(screen.screen).not.toContain("Reconnecting");
  expect(await screen.leave()).toBe(0);
  const { events } = await onlyLog(there);
  expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["interrupted", "completed"]);
  expect(eventsOf(events, "user_message")).toHaveLength(2);
});

test("messages queued before the server was lost are held, because they were meant for the end of a turn that did not end", async () => {
  const there = newPlace();
  const { env } = await stalledAfter(STEPS, "Never");
  const server = await serve(there, env);
  const screen = onServer(server, ["go"]);
  await screen.shows("Never");
  await screen.say("and then?");
  await screen.shows("⋯ and then?");
  server.child.kill("SIGKILL");
  await server.exited;
  await screen.shows("The server does not answer. Reconnecting…");
  await serve(there, env, Number(new URL(server.url).port));
  await screen.shows("in the middle of the turn: /resume finishes it");
  await screen.shows("On hold: Enter to send them");
  screen.press(KEYS.enter);
  await screen.shows("Here again.");
  await screen.ready();
  expect(await screen.leave()).toBe(0);
});

test("a terminal that only watched the turn reports it too, and messages sent meanwhile arrive", async () => {
  const there = newPlace();
  const { env } = await stalledAfter(STEPS, "Never");
  const server = await serve(there, env);
  const first = onServer(server, ["go"]);
  await first.shows("Never");
  first.press(KEYS.controlD);
  await first.ended;
  const screen = onServer(server, ["-c"]);
  await screen.shows("● Working");
  server.child.kill("SIGKILL");
  await server.exited;
  await screen.shows("The server does not answer. Reconnecting…");
  expect(screen.screen).not.toContain("Working");
  await screen.say("hello?");
  await serve(there, env, Number(new URL(server.url).port));
  await screen.shows("Here again.");
  expect(screen.flat).toContain("The server was stopped in the middle of the turn");
  await screen.ready();
  expect(await screen.leave()).toBe(0);
});
