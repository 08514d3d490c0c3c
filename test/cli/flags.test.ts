/** The effect of each flag, as the server and the log see it. */

import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { VERSION } from "../../src/base/support/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import {
  emulatorOf,
  eventsOf,
  expectAllAccepted,
  expectProblem,
  logsOf,
  newPlace,
  onlyLog,
  run,
  toolsFile,
} from "./harness.ts";

type Body = Readonly<Record<string, unknown>> & { readonly tools?: readonly { readonly name: string }[] };

function bodies(emulator: Emulator): readonly Body[] {
  return emulator.exchanges.map(({ requestText }) => JSON.parse(requestText) as Body);
}

const BUILT_IN = ["list_files", "read_file", "search_files", "write_file", "edit_file", "run_command"];

test("--version and --help print to stdout and exit with 0", async () => {
  const place = newPlace();
  expect(await run(place, ["--version"])).toEqual({ code: 0, signal: null, out: `${VERSION}\n`, err: "" });
  expect(await run(place, ["-V"])).toMatchObject({ code: 0, out: `${VERSION}\n` });
  const help = await run(place, ["--help"]);
  expect(help).toMatchObject({ code: 0, err: "" });
  for (const word of ["emulator", "--max-steps", "OPENAI_API_KEY", "4 limit reached"]) {
    expect(help.out).toContain(word);
  }
  expect(help.out.split("\n").length).toBeLessThan(40);
  const more = await run(place, ["emulator", "--help"]);
  expect(more).toMatchObject({ code: 0, err: "" });
  expect(more.out).toContain("--scenario <file>");
  expect(await logsOf(place)).toEqual(new Map());
});

test("a model known not to reason is not asked for encrypted reasoning: nothing is refused, nothing needs healing", async () => {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  expect(await run(place, ["-p", "-m", "openai/emu-plain", "hello"], { env })).toMatchObject({ code: 0 });
  expect(bodies(emulator).map(({ include }) => include)).toEqual([undefined]);
  expectAllAccepted(emulator);
});

describe("-c and -r", () => {
  test("-c continues the last session of this directory, not of another", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    for (const name of ["one", "two"]) mkdirSync(join(place.work, name));
    const ask = async (folder: string, ...args: string[]): Promise<string> => {
      const ran = await run(place, ["-p", ...args], { env, cwd: join(place.work, folder) });
      expect(ran).toMatchObject({ code: 0 });
      return ran.out;
    };
    await ask("one", "Think of a number.");
    await ask("two", "Hello, my name is Ada.");
    expect(await ask("one", "-c", "Which number did you think of?")).toMatch(/I thought of \d+\./);
    expect(await ask("two", "-c", "What is my name?")).toContain("Your name is Ada.");
    expect((await logsOf(place)).size).toBe(2);
    expectAllAccepted(emulator);
  });

  test("-r continues from anywhere; the session keeps its model and effort, and -m changes it from now on", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    const { THROUGHLINE_MODEL: _model, ...keyOnly } = env;
    mkdirSync(join(place.work, "elsewhere"));
    await run(place, ["-p", "-m", "openai/emu-reasoner-mini:low", "Think of a number."], { env: keyOnly });
    const { id } = await onlyLog(place);
    const ask = (...args: string[]) =>
      run(place, ["-p", "-r", id, ...args], { env: keyOnly, cwd: join(place.work, "elsewhere") });
    expect((await ask("Which number was it?")).out).toMatch(/I thought of \d+\./);
    await ask("-m", "openai/emu-prefix-bound", "hello");
    await ask("and now?");
    await ask("--effort", "high", "-m", "openai/emu-reasoner-mini", "again");
    expect(bodies(emulator).map(({ model, reasoning }) => [model, reasoning])).toEqual([
      ["emu-reasoner-mini", { effort: "low", summary: "auto" }],
      ["emu-reasoner-mini", { effort: "low", summary: "auto" }],
      ["emu-prefix-bound", { summary: "auto" }],
      ["emu-prefix-bound", { summary: "auto" }],
      ["emu-reasoner-mini", { effort: "high", summary: "auto" }],
    ]);
    expect((await logsOf(place)).size).toBe(1);
  });

  test("without a prompt or a turn to finish they exit with 2, and the log stays unchanged", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    await run(place, ["-p", "hello"], { env });
    const before = (await onlyLog(place)).events;
    expectProblem(await run(place, ["-p", "-c"], { env }), 2, "no_prompt");
    expect((await onlyLog(place)).events).toEqual(before);
    expect(emulator.report().requests).toHaveLength(1);
  });
});

test("--system is sent as instructions", async () => {
  const { emulator, env } = await emulatorOf();
  await run(newPlace(), ["-p", "--system", "Be brief.", "hi"], { env });
  expect(bodies(emulator)[0]).toMatchObject({ instructions: "Be brief." });
});

test("-C works in that directory, and the session belongs to it", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  mkdirSync(join(place.work, "inner"));
  place.write("inner/found.txt", "x");
  const ran = await run(place, ["-p", "-C", "inner", "List the files."], { env });
  expect(ran.out).toContain("found.txt");
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "session_start")).toMatchObject([
    { cwd: realpathSync(join(place.work, "inner")), writer: `throughline/${VERSION}` },
  ]);
  expect(await run(place, ["-p", "-c", "-C", "inner", "more"], { env })).toMatchObject({ code: 0 });
});

describe("tools", () => {
  const shout = `tool({
    name: "shout", description: "d", access: "read",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: ({ text }) => text.toUpperCase() + "!",
  })`;
  const own = `tool({ name: "list_files", description: "mine", access: "read", input: { type: "object" }, run: () => "only mine" })`;

  test("--tools puts tools before the built-in ones and may replace one", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf({
      steps: [
        { output: [{ function_call: { name: "shout", arguments: { text: "hey" } } }] },
        { output: [{ function_call: { name: "list_files", arguments: {} } }] },
      ],
    });
    const file = toolsFile(place, `export const a = ${shout}; export const more = [${own}];`);
    const ran = await run(place, ["-p", "--tools", file, "go"], { env });
    expect(ran.err).toContain("✓ shout: HEY!");
    expect(ran.err).toContain("✓ list_files: only mine");
    expect(bodies(emulator)[0]?.tools?.map(({ name }) => name)).toEqual([
      "shout",
      "list_files",
      ...BUILT_IN.filter((name) => name !== "list_files"),
    ]);
  });

  test("--allow-tools offers only these", async () => {
    const { emulator, env } = await emulatorOf();
    await run(newPlace(), ["-p", "--allow-tools", "read_file, list_files,", "hi"], { env });
    expect(bodies(emulator)[0]?.tools?.map(({ name }) => name)).toEqual(["list_files", "read_file"]);
  });

  test('--allow-tools "" offers none', async () => {
    const { emulator, env } = await emulatorOf();
    await run(newPlace(), ["-p", "--allow-tools", "", "hi"], { env });
    expect(bodies(emulator)[0]?.tools ?? []).toEqual([]);
  });
});

describe("--fallback", () => {
  const down = { type: "http", status: 429, code: "insufficient_quota" } as const;

  test("continues the turn on the next model and says why; inspect shows it; -c returns to the first", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    emulator.addFaults(down);
    const ran = await run(place, ["-p", "--fallback", "emulator/emu-claude", "hi"], { env });
    expect(ran.code).toBe(0);
    const why =
      /! openai\/[\w.-]+ did not answer: .+ \[insufficient_quota\]\. emulator\/emu-claude continues this turn/;
    expect(ran.err).toMatch(why);
    const inspected = await run(place, ["inspect", "--last"], { env });
    expect(inspected.out).toMatch(why);
    expect(inspected.out).toMatch(/request 2 · step 1 · attempt 2 · emulator\/emu-claude · completed/);
    expect((await run(place, ["-p", "-c", "and?"], { env })).code).toBe(0);
    expect(emulator.exchanges).toHaveLength(2);
  });

  test("is also a setting", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    emulator.addFaults(down);
    await run(place, ["config", "set", "fallback", "emulator/emu-claude"]);
    expect((await run(place, ["-p", "hi"], { env })).code).toBe(0);
  });

  test("needs a model that exists, and its key, before anything is written", async () => {
    const place = newPlace();
    expectProblem(await run(place, ["-p", "--fallback", "nope", "hi"]), 2, "model_invalid");
    expectProblem(
      await run(place, ["-p", "--fallback", "anthropic/claude-opus-5", "hi"]),
      2,
      "api_key_missing",
    );
  });

  test("is part of a recording", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    emulator.addFaults(down);
    const record = join(place.work, "run.jsonl");
    await run(place, ["-p", "--record", record, "--fallback", "openai/emu-plain", "hi"], { env });
    const played = await run(place, ["-p", "--playback", record, "--fast", "--strict"]);
    expect(played.err).toContain("same as recorded");
    expect(played.code).toBe(0);
  });
});

describe("--permissions", () => {
  const prompt = 'Run "echo done > made.txt".';
  test.for([
    ["auto", 0, "allow", "ok", true],
    ["ask", 3, "deny", "denied", false],
    ["read-only", 0, "deny", "denied", false],
    ["deny", 0, "deny", "denied", false],
  ] as const)("%s: exit %d", async ([mode, exit, decision, status, made]) => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    const ran = await run(place, ["-p", "--permissions", mode, prompt], { env });
    expect(ran.code).toBe(exit);
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "permission_decision")).toMatchObject([{ decision, by: "policy" }]);
    expect(eventsOf(events, "tool_result").map((one) => one.status)).toEqual([status]);
    expect(eventsOf(events, "turn_end").map((one) => one.status)).toEqual(["completed"]);
    expect(made ? place.read("made.txt") : ran.out).toMatch(made ? "done\n" : /did not allow/);
    expectAllAccepted(emulator);
  });

  test("ask is the default, and reports that there was no one to ask", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const ran = await run(place, ["-p", prompt], { env });
    expect(ran.code).toBe(3);
    expect(ran.err).toMatch(
      /\nthroughline: [^\n]*no user could be asked; --allow RULE [^\n]*\[permission_needed\]\n$/,
    );
  });

  test("reading needs no permission unless everything is denied", async () => {
    const place = newPlace();
    place.write("seen.txt", "x");
    const { env } = await emulatorOf();
    expect((await run(place, ["-p", "List the files."], { env })).out).toContain("seen.txt");
    expect((await run(place, ["-p", "--permissions", "deny", "List the files."], { env })).out).toContain(
      "did not allow",
    );
  });
});

test("--max-steps ends the turn at the limit: exit 4, the calls not run, and the session can continue", async () => {
  const place = newPlace();
  place.write("README.md", "# emulator");
  const { emulator, env } = await emulatorOf();
  const ran = await run(place, ["-p", "--max-steps", "2", "Do the five-step chain."], { env });
  expect(ran).toMatchObject({ code: 4, out: "" });
  expect(ran.err).toContain("throughline: the turn stopped at a limit: max_steps\n");
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "turn_end")).toMatchObject([
    { status: "incomplete", reason: "max_steps", steps: 2 },
  ]);
  expect(eventsOf(events, "tool_result").map(({ status }) => status)).toEqual(["ok", "not_executed"]);
  expect(await run(place, ["-p", "-c", "hello"], { env })).toMatchObject({ code: 0 });
  expectAllAccepted(emulator);
});
