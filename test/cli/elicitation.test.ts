/** The question of a running tool in the line chat, for a screen reader, and where nobody can be asked. */

import { expect, test } from "vitest";

import { address, COUNT, form, NAME } from "../contracts/elicit-fixture.ts";
import { ASK_STEPS, elicitTool, gotAnswers } from "./elicit-tool.ts";
import { emulatorOf, eventsOf, newPlace, onlyLog, run as command } from "./harness.ts";
import { onTerminal } from "./pty.ts";

const SIZE = {
  name: "size",
  type: "choice",
  title: "Size",
  required: true,
  options: [
    { value: "s", title: "Small" },
    { value: "l", title: "Large" },
  ],
} as const;

async function place(...requests: Parameters<typeof elicitTool> extends [unknown, ...infer R] ? R : never) {
  const made = newPlace();
  const { env } = await emulatorOf({ steps: ASK_STEPS });
  return { place: made, env, file: elicitTool(made, ...requests) };
}

const CONTROL_D = "\u0004";
const CONTROL_C = "\u0003";

test("the screen reader hears who asks, types numbers, is corrected, and sends with 1", async () => {
  const { place: here, env, file } = await place(form([NAME, SIZE, COUNT]));
  const chat = onTerminal(here, ["--screen-reader", "--tools", file, "go"], env);
  await chat.shows("Question: people asks for input.");
  await chat.shows("The server says: Who are you?");
  await chat.shows("1 of 3: Your name (text), it needs a value: ");
  chat.type("");
  await chat.shows("Your name needs a value.");
  await chat.shows("1 of 3: ");
  chat.type("Ada Spoken");
  await chat.shows("  1 Small");
  await chat.shows("  2 Large");
  await chat.shows("2 of 3: Size (number from 1 to 2), it needs a value: ");
  chat.type("2");
  await chat.shows("Size: Large");
  await chat.shows("3 of 3: How many (whole number from 1 to 9, optional), Enter takes 3, - leaves it out: ");
  chat.type("-");
  await chat.shows("Type 1 to send this to people, 2 to decline, 3 to cancel: ");
  chat.type("");
  await chat.shows("Type 1 to send this to people, 2 to decline, 3 to cancel: ");
  chat.type("1");
  await chat.shows("After it.");
  await chat.shows("Done, ");
  chat.press(CONTROL_D);
  await chat.ended;
  expect(gotAnswers(here)).toEqual([{ action: "accept", content: { name: "Ada Spoken", size: "l" } }]);
  expect(JSON.stringify((await onlyLog(here)).events)).not.toContain("Ada Spoken");
});

test("the line chat shows an address with its host, and /decline declines at a field", async () => {
  const { place: here, env, file } = await place(address("https://auth.example/x?y=1"), form());
  const chat = onTerminal(here, ["--tools", file, "go"], { ...env, TERM: "dumb" });
  await chat.shows("? people asks you to open a page of auth.example");
  await chat.shows("Address: https://auth.example/x?y=1");
  await chat.shows("Type accept to say that you are done, decline or cancel [a/d/c]: ");
  chat.type("accept");
  await chat.shows("1 of 2: Your name");
  chat.type("/decline");
  await chat.shows("After it.");
  chat.press(CONTROL_D);
  await chat.ended;
  expect(gotAnswers(here)).toEqual([{ action: "accept", content: {} }, { action: "decline" }]);
});

test("Ctrl-C at a question stops the turn, and the tool gets cancel", async () => {
  const { place: here, env, file } = await place(form());
  const chat = onTerminal(here, ["--screen-reader", "--tools", file, "go"], env);
  await chat.shows("1 of 2: Your name");
  chat.press(CONTROL_C);
  await chat.shows("Ended: cancelled");
  chat.press(CONTROL_D);
  await chat.ended;
  expect(gotAnswers(here)).toEqual([{ action: "cancel" }]);
});

test("-p declines, says so on stderr, and exits as usual", async () => {
  const { place: here, env, file } = await place(form());
  const ran = await command(here, ["-p", "--tools", file, "go"], { env });
  expect(ran.code).toBe(0);
  expect(ran.out).toBe("After it.\n");
  expect(ran.err).toContain("? people asks: Who are you?");
  expect(ran.err).toContain(
    "! the question of people was declined: nobody can be asked: the session is not interactive",
  );
  expect(gotAnswers(here)).toEqual([{ action: "decline" }]);
  expect(eventsOf((await onlyLog(here)).events, "elicitation_answer")).toMatchObject([
    { action: "decline", by: "policy" },
  ]);
});

test("-p names the server of a form that asks for a password, and shows none of it", async () => {
  const { place: here, env, file } = await place(form([{ ...NAME, name: "password" }], "Log in now"));
  const ran = await command(here, ["-p", "--tools", file, "go"], { env });
  expect(ran.err).toContain('! the server "people" asked for input, which was declined and not shown');
  expect(ran.err).not.toContain("Log in now");
  expect(gotAnswers(here)).toEqual([{ action: "decline" }]);
});
