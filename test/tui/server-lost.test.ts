/** A server that goes away, a person who leaves, and what is wrong from the start. */

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, newPlace, onlyLog, run } from "../cli/harness.ts";
import { KEYS, onScreen, stalledAfter } from "./screen-harness.ts";
import { onServer, serve, TOKEN } from "./server-harness.ts";

test("a server that goes away is told, what is sent meanwhile waits, and everything goes on when it is back", async () => {
  const there = newPlace();
  const steps = [{ output: [{ message: "Never the end." }] }, { output: [{ message: "Here again." }] }];
  const { env } = await stalledAfter(steps, "Never");
  const server = await serve(there, env);
  const screen = onServer(server, ["go"]);
  await screen.shows("Never");
  server.child.kill("SIGKILL");
  await server.exited;
  await screen.shows("The server does not answer: reconnecting…");
  await screen.say("still there?");
  await screen.shows("⋯ still there?");
  await serve(there, env, Number(new URL(server.url).port));
  await screen.shows("/resume finishes the turn");
  await screen.shows("Held: Enter sends them");
  screen.press(KEYS.enter);
  await screen.shows("Here again.");
  await screen.ready();
  expect(screen.screen).not.toContain("reconnecting");
  expect(await screen.leave()).toBe(0);
  const { events } = await onlyLog(there);
  expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["interrupted", "completed"]);
});

test("whoever leaves stops nothing: the turn goes on on the server, and says so", async () => {
  const there = newPlace();
  const { env } = await stalledAfter([{ output: [{ message: "Never the end." }] }], "Never");
  const server = await serve(there, env);
  const screen = onServer(server, ["go"]);
  await screen.shows("Never");
  screen.press(KEYS.controlD);
  expect(await screen.ended).toBe(0);
  expect(screen.flat).toContain("The turn goes on on the server.");
  const again = onServer(server, ["-c"]);
  await again.shows("Never");
  await again.shows("● Working");
  again.press(KEYS.escape);
  await again.shows("■ Stopped.");
  await again.ready();
  expect(await again.leave()).toBe(0);
});

test("the token, the address, the flags", async () => {
  const there = newPlace();
  const server = await serve(there, {});
  const place = newPlace();
  const tried = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const screen = onScreen(place, args, { env, columns: 200 });
    return { code: await screen.ended, said: screen.screen };
  };
  const wrong = await tried(["--server", server.url], { THROUGHLINE_TOKEN: "f".repeat(32) });
  expect(wrong).toEqual({
    code: 2,
    said: expect.stringMatching(/the one given is another.*\[unauthorized\]/s),
  });
  const none = await tried(["--server", server.url], {});
  expect(none).toEqual({ code: 2, said: expect.stringMatching(/none was given.*\[unauthorized\]/s) });
  const nobody = await tried(["--server", "http://127.0.0.1:1"], { THROUGHLINE_TOKEN: TOKEN });
  expect(nobody).toEqual({ code: 2, said: expect.stringContaining("[server_unreachable]") });
  const nonsense = await tried(["--server", "nonsense"], {});
  expect(nonsense).toEqual({ code: 2, said: expect.stringContaining("[server_url_invalid]") });
  const unknown = await tried(["--server", server.url, "-r", "nope"], { THROUGHLINE_TOKEN: TOKEN });
  expect(unknown).toEqual({ code: 2, said: expect.stringContaining("[session_not_found]") });
  const effort = await tried(["--server", server.url, "--effort", "never"], { THROUGHLINE_TOKEN: TOKEN });
  expect(effort).toEqual({ code: 2, said: expect.stringContaining("[effort_unknown]") });
  const flags = await run(place, ["--server", server.url, "--permissions", "deny", "-p", "hi"]);
  expect([flags.code, flags.out]).toEqual([2, ""]);
  expect(flags.err).toContain("--server and --permissions cannot be used together");
});

test("the link instead of a token, and lines for a screen reader", async () => {
  const there = newPlace();
  const { env } = await emulatorOf();
  const server = await serve(there, env);
  const screen = onScreen(newPlace(), ["--server", server.link, "--screen-reader", "Think of a number."], {
    columns: 120,
  });
  await screen.shows("Done, 1 request");
  screen.press(KEYS.controlD);
  expect(await screen.ended).toBe(0);
  expect(screen.flat).toContain(`throughline --server ${server.url} -r`);
  expect(screen.everything).not.toContain("code=");
});
