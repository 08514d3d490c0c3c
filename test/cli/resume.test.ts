/** `resume`, and ways to name a session: by id, an id prefix, a title, --last, or from a list. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  emulatorOf,
  eventsOf,
  expectProblem,
  logsOf,
  newPlace,
  onlyLog,
  type Place,
  run,
} from "./harness.ts";
import { onTerminal } from "./pty.ts";

async function messagesOf(place: Place, id: string): Promise<readonly string[]> {
  const events = (await logsOf(place)).get(id) ?? [];
  return eventsOf(events, "user_message").flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
}

async function idsOf(place: Place): Promise<ReadonlySet<string>> {
  return new Set((await logsOf(place)).keys());
}

/** Creates a session with one message; returns its id. */
async function made(
  place: Place,
  env: Readonly<Record<string, string>>,
  text: string,
  cwd = place.work,
): Promise<string> {
  const before = await idsOf(place);
  expect(await run(place, ["-p", text], { env, cwd })).toMatchObject({ code: 0 });
  return [...(await idsOf(place))].find((id) => !before.has(id)) ?? "";
}

describe("without a terminal", () => {
  test("resume accepts an id, an id prefix, a title and --last; the prompt may come from standard input", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const id = await made(place, env, "Think of a number.");
    await run(place, ["resume", id, "by", "id"], { env });
    await run(place, ["resume", id.slice(0, -3), "by beginning"], { env });
    await run(place, ["resume", "Think of a number."], { env, input: "by title" });
    await run(place, ["resume", "--last", "by", "last"], { env });
    await run(place, ["-p", "-r", "Think of a number.", "by -r and title"], { env });
    expect(await messagesOf(place, id)).toEqual([
      "Think of a number.",
      "by id",
      "by beginning",
      "by title",
      "by last",
      "by -r and title",
    ]);
  });

  test("resume without a session says how to name one, and does not wait", async () => {
    const place = newPlace();
    const ran = await run(place, ["resume"]);
    expectProblem(ran, 2, "session_not_chosen");
    expect(ran.err).toContain("--last");
  });

  test.for([
    [["resume", "nope", "hi"], "session_not_found"],
    [["resume", "--last", "hi"], "session_not_found"],
    [["resume", "--nope"], "usage"],
    [["sessions", "rename", "--last", "a", "b"], "usage"],
    [["sessions", "rename", "only-one"], "usage"],
    [["sessions", "rm"], "usage"],
    [["sessions", "path", "--last"], "session_not_found"],
    [["edit", "--last", "1"], "usage"],
    [["edit", "x", "y", "z"], "number_invalid"],
    [["inspect", "--last", "--request", "1", "--diff", "1", "2"], "usage"],
    [["inspect", "--last", "--request", "1", "--preview"], "usage"],
  ] as const)("%j gives one line and exit 2", async ([args, code]) => {
    expectProblem(await run(newPlace(), args), 2, code);
  });

  test("two sessions of the same title are told apart by id", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const [one, two] = [await made(place, env, "hello"), await made(place, env, "hello")];
    const ran = await run(place, ["resume", "hello", "more"], { env });
    expectProblem(ran, 2, "session_ambiguous");
    expect(ran.err).toContain(one);
    expect(ran.err).toContain(two);
  });

  test("--last works wherever an id is accepted", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const id = await made(place, env, "hello");
    const { file } = await onlyLog(place);
    expect(await run(place, ["sessions", "path", "--last"])).toMatchObject({ code: 0, out: `${file}\n` });
    expect(await run(place, ["sessions", "rename", "--last", "another title"])).toMatchObject({ code: 0 });
    expect((await run(place, ["sessions"])).out).toContain("another title");
    expect(await run(place, ["edit", "--last", "1", "good", "morning"], { env })).toMatchObject({ code: 0 });
    expect(await messagesOf(place, id)).toEqual(["hello", "good morning"]);
    for (const args of [["inspect"], ["check"], ["sessions", "show"], ["retry"], ["undo"]]) {
      expect(await run(place, [...args, "--last"], { env })).toMatchObject({ code: 0 });
    }
    expect(await run(place, ["sessions", "rm", "--last", "--yes"])).toMatchObject({ code: 0 });
    expect((await logsOf(place)).size).toBe(0);
  });
});

describe("on a terminal", () => {
  test("resume shows a numbered list of this directory; text searches, a number chooses, and the chat continues it", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    mkdirSync(join(place.work, "other"));
    await made(place, env, "about apples");
    const pears = await made(place, env, "about pears");
    await made(place, env, "about plums", join(place.work, "other"));
    const terminal = onTerminal(place, ["resume", "-p", "-m", "openai/emu-reasoner"], env);
    await terminal.shows("1  ");
    await terminal.shows("about pears");
    await terminal.shows("2  ");
    await terminal.shows("about apples");
    await terminal.shows("* for every directory, q to quit: ");
    terminal.type("nothing like it");
    await terminal.shows('No title contains "nothing like it", and no id begins with it.');
    await terminal.shows("q to quit: ");
    terminal.type("PEAR");
    await terminal.shows("about pears");
    await terminal.shows("q to quit: ");
    terminal.type("7");
    await terminal.shows("The list has no number 7.");
    terminal.type("*");
    await terminal.shows("about plums");
    await terminal.shows("about pears");
    await terminal.shows("q to quit: ");
    terminal.type("2");
    // Without a prompt or an interrupted turn it says so about the chosen session.
    const { code, screen } = await terminal.ended;
    expect(code).toBe(2);
    expect(screen).toContain("[no_prompt]");
    expect(await messagesOf(place, pears)).toEqual(["about pears"]);
  });

  test.for([["q\r"], ["\u0003"], ["\u0004"]])("%j exits without choosing", async ([keys]) => {
    const place = newPlace();
    const { env } = await emulatorOf();
    await made(place, env, "hello");
    const terminal = onTerminal(place, ["resume"], env);
    await terminal.shows("q to quit: ");
    terminal.press(keys ?? "");
    expect((await terminal.ended).code).toBe(0);
  });

  test("resume says that there are no sessions", async () => {
    const { code, screen } = await onTerminal(newPlace(), ["resume"]).ended;
    expect(code).toBe(0);
    expect(screen).toContain("No sessions yet");
  });
});
