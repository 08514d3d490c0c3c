/**
 * The line-based chat on a real terminal. The test reads the screen and types; it waits for what it sees, never for
 * time.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  emulatorOf,
  environment,
  eventsOf,
  expectAllAccepted,
  expectNoTrace,
  newPlace,
  onlyLog,
  run,
} from "./harness.ts";
import { onTerminal } from "./pty.ts";

const PROMPT = "› ";
const STALL = { type: "stall", at: { where: "after", unit: "event", index: 14 } } as const;

test("without a key it says that it is the emulator, answers, and Ctrl-D exits with the way back", async () => {
  const place = newPlace();
  const terminal = onTerminal(place, []);
  await terminal.shows(
    "You are chatting with the built-in emulator, which follows fixed rules and is not a model.",
  );
  await terminal.shows("To use a real model: export OPENAI_API_KEY=");
  await terminal.shows("emulator/emu-reasoner · session s_");
  await terminal.shows(PROMPT);
  terminal.type("Think of a number.");
  await terminal.shows("· Choosing a number");
  await terminal.shows("I have thought of a number and kept it to myself.");
  await terminal.shows("─ 1 request · ↑");
  await terminal.shows(PROMPT);
  terminal.press("\u0004");
  const { code, screen } = await terminal.ended;
  const { id } = await onlyLog(place);
  expect(code).toBe(0);
  expect(screen).toContain(`To continue: throughline -r ${id}`);
  expectNoTrace({ out: screen, err: "" });
  const next = await run(place, ["-p", "-r", id, "Which number did you think of?"]);
  expect(next.out).toMatch(/I thought of \d+\./);
});

test("the words on the command line are the first message; a real endpoint is not called the emulator", async () => {
  const { env } = await emulatorOf();
  const terminal = onTerminal(newPlace(), ["what is", "my name?"], env);
  await terminal.shows("openai/emu-reasoner · session s_");
  await terminal.shows("You have not told me your name yet.");
  await terminal.shows(PROMPT);
  terminal.type("/exit");
  const { code, screen } = await terminal.ended;
  expect(code).toBe(0);
  expect(screen).not.toContain("built-in emulator");
});

test("-i belongs to the first message, and @file attaches a file to any message", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  place.write("a.txt", "first");
  place.write("b.txt", "second");
  const terminal = onTerminal(place, ["-i", "a.txt", "hello"], env);
  await terminal.shows("─ 1 request · ↑");
  await terminal.shows(PROMPT);
  terminal.type("now @b.txt and @c.txt");
  await terminal.shows("─ 1 request · ↑");
  await terminal.shows(PROMPT);
  terminal.type("/exit");
  expect((await terminal.ended).code).toBe(0);
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "user_message").map(({ content }) => content)).toEqual([
    [
      { type: "text", text: "hello" },
      { type: "text", text: '<file name="a.txt">\nfirst\n</file>' },
    ],
    [
      { type: "text", text: "now @b.txt and @c.txt" },
      { type: "text", text: '<file name="b.txt">\nsecond\n</file>' },
    ],
  ]);
  expectAllAccepted(emulator);
});

test("-i without a first message is an error, not a chat that forgets the file", async () => {
  const place = newPlace();
  place.write("a.txt", "first");
  const terminal = onTerminal(place, ["-i", "a.txt"]);
  await terminal.shows("[no_prompt]");
  expect((await terminal.ended).code).toBe(2);
});

describe("a tool that needs permission", () => {
  const ask = 'Run "echo made > made.txt".';
  const question = 'Allow execute: run_command({"command":"echo made > made.txt"}) ? [y/a/N] ';

  test("runs after yes, and after nothing else", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    const terminal = onTerminal(place, [], env);
    for (const [answer, allowed] of [
      ["", false],
      ["n", false],
      ["yup", false],
      ["y", true],
    ] as const) {
      await terminal.shows(PROMPT);
      terminal.type(ask);
      await terminal.shows(question);
      expect(existsSync(join(place.work, "made.txt"))).toBe(false);
      terminal.type(answer);
      await terminal.shows(allowed ? "✓ run_command" : "✗ run_command: not executed: denied by the user");
      await terminal.shows(" · ↑");
    }
    terminal.press("\u0004");
    expect((await terminal.ended).code).toBe(0);
    expect(place.read("made.txt")).toBe("made\n");
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "permission_decision").map(({ decision, by }) => [decision, by])).toEqual([
      ["deny", "person"],
      ["deny", "person"],
      ["deny", "person"],
      ["allow", "person"],
    ]);
    expectAllAccepted(emulator);
  });

  test("ends the turn on Ctrl-C at its question, without waiting for an answer", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    const terminal = onTerminal(place, [], env);
    await terminal.shows(PROMPT);
    terminal.type(ask);
    await terminal.shows(question);
    terminal.press("\u0003");
    await terminal.shows("─ cancelled");
    await terminal.shows(PROMPT);
    terminal.type("hello");
    await terminal.shows("You said: “hello”");
    terminal.press("\u0004");
    await terminal.ended;
    expect(existsSync(join(place.work, "made.txt"))).toBe(false);
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled", "completed"]);
    expect(terminal.screen).not.toContain("is waiting: it was already answered");
    expectAllAccepted(emulator);
  });

  test("shows all of its arguments in the question, even the end of long ones, and the terminal obeys none of them", async () => {
    const command = `echo ${"a".repeat(500)}; echo \u001B[2J the end`;
    const { env } = await emulatorOf({
      steps: [{ output: [{ function_call: { name: "run_command", arguments: { command } } }] }],
    });
    const terminal = onTerminal(newPlace(), ["go"], env);
    await terminal.shows("Allow execute: run_command(");
    await terminal.shows(String.raw`\u001b[2J the end"}) ? [y/N]`);
    terminal.press("\u0004");
    await terminal.ended;
    expect(terminal.screen).not.toContain("\u001B[2J");
  });

  test("is asked about again if the process was killed at the question, and runs once", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    const terminal = onTerminal(place, ['Run "echo made >> made.txt".'], env);
    await terminal.shows("? [y/a/N]");
    terminal.kill();
    await terminal.ended;
    const ran = await run(place, ["-p", "-c", "--permissions", "auto"], { env });
    expect(ran).toMatchObject({ code: 0 });
    expect(place.read("made.txt")).toBe("made\n");
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["completed"]);
    expectAllAccepted(emulator);
  });
});

describe("Ctrl-C", () => {
  test("in a turn stops the turn and not the chat; at the prompt it exits", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf({ faults: [STALL] });
    const terminal = onTerminal(place, [], env);
    await terminal.shows(PROMPT);
    terminal.type("Think of a number.");
    await terminal.shows("· Choosing a number");
    terminal.press("\u0003");
    await terminal.shows("─ cancelled");
    await terminal.shows(PROMPT);
    terminal.type("hello");
    await terminal.shows("You said: “hello”");
    await terminal.shows(PROMPT);
    terminal.press("\u0003");
    const { code, screen } = await terminal.ended;
    expect(code).toBe(0);
    expect(screen).toContain("To continue: throughline -r ");
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled", "completed"]);
    expectAllAccepted(emulator);
  });
});

test("a line typed while a turn runs is sent when the turn ends, and is not lost", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf({ faults: [STALL] });
  const terminal = onTerminal(place, [], env);
  await terminal.shows(PROMPT);
  terminal.type("Think of a number.");
  await terminal.shows("· Choosing a number");
  terminal.type("hello in between");
  await terminal.shows("hello in between");
  terminal.press("\u0003");
  await terminal.shows("─ cancelled");
  await terminal.shows("You said: “hello in between”");
  await terminal.shows(PROMPT);
  terminal.press("\u0004");
  await terminal.ended;
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled", "completed"]);
  expectAllAccepted(emulator);
});

describe("commands", () => {
  test("/help, /model, /inspect, /retry and mistakes", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    const terminal = onTerminal(place, [], env);
    const enter = async (line: string, ...shown: readonly string[]): Promise<void> => {
      await terminal.shows(PROMPT);
      terminal.type(line);
      for (const text of shown) await terminal.shows(text);
    };
    await enter("/help", "Ctrl-C stops a turn", "/model [name]");
    await enter("/nonsense", "Unknown command /nonsense");
    await enter("/alow", "Unknown command /alow; did you mean /allow?");
    await enter("/retry", "[nothing_to_retry]");
    await enter("/resume", "There is no interrupted turn to finish, and no other session to open.");
    await enter("/resume nobody", "[session_not_found]");
    await enter("/edit", "[nothing_to_edit]");
    await enter("/undo", "[nothing_to_undo]");
    await enter("/effort never", "[effort_invalid]");
    await enter("/rename", "[title_missing]");
    await enter("/hel", "did you mean /help?");
    await enter("/model nobody/x", "[model_invalid]");
    await enter("Think of a number.", "kept it to myself", " · ↑");
    await enter("/export", "Written: ");
    await enter("/export", "the file already exists: choose another name with /export NAME", "[file_exists]");
    await enter(
      "/export talk.pdf",
      "talk.pdf: unknown format: use a name that ends in .md, .html, .jsonl",
      "[format_unknown]",
    );
    await enter("/export nowhere/talk.md", "nowhere/talk.md: cannot write this file: ", "[file_unwritable]");
    await enter("/inspect", "user_message", "replay", "reasoning", "replay");
    await enter("/retry", "kept it to myself", " · ↑");
    await enter(
      "/model openai/emu-plain",
      "Next: openai/emu-plain. 0 of 1 thought goes along to openai/emu-plain; 1 stays in the log",
    );
    await enter("hello", "You said: “hello”", " · ↑");
    await enter("/model openai/emu-reasoner:low", "1 of 1 thought goes along to openai/emu-reasoner:low.");
    await enter("Which number did you think of?", "I thought of ", " · ↑");
    for (let more = 0; more < 3; more += 1) await enter(""); // an empty line asks again
    await enter("/exit", "To continue");
    expect((await terminal.ended).code).toBe(0);
    expectNoTrace({ out: terminal.screen, err: "" });
    expect(terminal.screen).not.toContain("-o ");
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "branch")).toMatchObject([{ why: "retry" }]);
    expect(emulator.report().requests.at(-1)).toMatchObject({ verdict: "accepted", model: "emu-reasoner" });
  });

  test("/resume finishes what a killed process left, and the banner says that there is something to resume", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf({ faults: [STALL] });
    const first = onTerminal(place, ["Think of a number."], env);
    await first.shows("· Choosing a number");
    first.kill();
    await first.ended;
    const terminal = onTerminal(place, ["-c"], env);
    await terminal.shows("The last turn was interrupted: /resume finishes it");
    await terminal.shows(PROMPT);
    terminal.type("/resume");
    await terminal.shows("kept it to myself");
    await terminal.shows(PROMPT);
    terminal.press("\u0004");
    await terminal.ended;
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["completed"]);
    expectAllAccepted(emulator);
  });
});

test("hostile text from a model, a tool or a server is shown and not obeyed", async () => {
  const place = newPlace();
  const evil = "\u001B]0;pwned\u0007";
  const { env } = await emulatorOf({
    steps: [
      { output: [{ function_call: { name: "read_file", arguments: "{\u001B]0;pwned\u0007" } }] },
      { output: [{ message: `text ${evil} \u009B2J` }] },
      { output: [], status: "failed", error: { code: "invalid_prompt", message: `error ${evil}` } },
    ],
  });
  const terminal = onTerminal(place, ["go"], env);
  await terminal.shows("→ read_file({\u241B]0;pwned\u2407)");
  await terminal.shows("text \u241B]0;pwned\u2407 \\u{9B}2J");
  await terminal.shows(PROMPT);
  terminal.type("again");
  await terminal.shows("[invalid_prompt] error \u241B]0;pwned\u2407");
  await terminal.shows(PROMPT);
  terminal.press("\u0004");
  await terminal.ended;
  expect(terminal.screen).not.toContain(evil);
  expect(terminal.screen).not.toContain("\u009B");
});

test("`start` on a terminal is the chat, with the demo's tool", async () => {
  const place = newPlace();
  const terminal = onTerminal(place, ["start"], environment(place));
  await terminal.shows(PROMPT);
  terminal.type("What is the weather in Paris?");
  await terminal.shows("✓ get_weather");
  await terminal.shows(PROMPT);
  terminal.press("\u0004");
  expect((await terminal.ended).code).toBe(0);
});
