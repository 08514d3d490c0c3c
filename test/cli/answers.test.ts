/** The answer: as it arrives, to a file, to a schema, within a cost; and the messages about it. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  emulatorOf,
  eventsOf,
  expectProblem,
  jsonLines,
  logsOf,
  newPlace,
  onlyLog,
  run,
  start,
  treeOf,
} from "./harness.ts";
import { onTerminal } from "./pty.ts";

const WORDS = "one two three four five six seven eight nine ten";

describe("the answer is written as it arrives", () => {
  test("so Ctrl-C leaves the part so far on stdout, with a line end, and the log holds the same text as a partial", async () => {
    const place = newPlace();
    const { env } = await emulatorOf({
      steps: [{ output: [{ message: WORDS }] }],
      faults: [{ type: "stall", at: { where: "after", unit: "event", index: 6 } }],
    });
    const running = start(place, ["-p", "hi"], { env });
    await running.seen(({ out }) => out.length > 0, "the beginning of the answer");
    running.kill("SIGINT");
    const ran = await running.ended;
    expect(ran.code).toBe(130);
    expect(ran.out).toMatch(/^one.*\n$/);
    expect(WORDS.startsWith(ran.out.trimEnd())).toBe(true);
    expect(ran.out.length).toBeLessThan(WORDS.length);
    const [partial] = eventsOf((await onlyLog(place)).events, "partial");
    expect(partial?.kind).toBe("text");
  });

  test("on a terminal too", async () => {
    const { env } = await emulatorOf({
      steps: [{ output: [{ message: WORDS }] }],
      faults: [{ type: "stall", at: { where: "after", unit: "event", index: 6 } }],
    });
    const terminal = onTerminal(newPlace(), ["-p", "hi"], env);
    await terminal.shows("one");
    terminal.press("\u0003");
    expect((await terminal.ended).code).toBe(130);
  });

  test("with a cut attempt and its repetition on separate lines; -o holds only the answer", async () => {
    const place = newPlace();
    const { env } = await emulatorOf({
      steps: [{ output: [{ message: WORDS }] }, { output: [{ message: WORDS }] }],
      faults: [{ type: "cut", at: { where: "after", unit: "event", index: 6 } }],
    });
    const ran = await run(place, ["-p", "-o", "answer.txt", "hi"], { env });
    expect(ran.code).toBe(0);
    const [first = "", second, ...rest] = ran.out.split("\n");
    expect(WORDS.startsWith(first)).toBe(true);
    expect([second, ...rest]).toEqual([WORDS, ""]);
    expect(place.read("answer.txt")).toBe(`${WORDS}\n`);
  });

  test("while commentary goes to stderr as progress", async () => {
    const { env } = await emulatorOf({
      steps: [
        {
          output: [
            { message: { text: "I look first.", phase: "commentary" } },
            { function_call: { name: "list_files", arguments: { path: "." } } },
          ],
        },
        { output: [{ message: { text: "Nothing there.", phase: "final_answer" } }] },
      ],
    });
    const ran = await run(newPlace(), ["-p", "look"], { env });
    expect(ran).toMatchObject({ code: 0, out: "Nothing there.\n" });
    expect(ran.err).toContain("» I look first.\n");
  });
});

describe("-o FILE", () => {
  test("replaces the whole file atomically, keeps its mode, and leaves nothing else in the folder", async () => {
    const place = newPlace();
    place.write("answer.txt", "old");
    const { env } = await emulatorOf({ steps: [{ output: [{ message: "New." }] }] });
    const ran = await run(place, ["-p", "-o", "answer.txt", "hi"], { env });
    expect(ran).toMatchObject({ code: 0, out: "New.\n" });
    expect(place.read("answer.txt")).toBe("New.\n");
    expect(readdirSync(place.work)).toEqual(["answer.txt"]);
  });

  test("leaves the file unchanged if the turn does not complete", async () => {
    const place = newPlace();
    place.write("answer.txt", "old");
    const { env } = await emulatorOf();
    const ran = await run(place, ["-p", "-o", "answer.txt", "--max-steps", "1", "List the files."], { env });
    expect(ran.code).toBe(4);
    expect(place.read("answer.txt")).toBe("old");
  });

  test.for([["missing/answer.txt"], ["."], ["/proc/answer.txt"]])(
    "refuses %s that cannot be written before anything is sent",
    async ([file]) => {
      const place = newPlace();
      const { emulator, env } = await emulatorOf();
      expectProblem(await run(place, ["-p", "-o", file ?? "", "hi"], { env }), 2, "output_unwritable");
      expect(treeOf(place.home)).toEqual([]);
      expect(emulator.report().requests).toEqual([]);
    },
  );
});

describe("--output-schema FILE", () => {
  const SCHEMA = JSON.stringify({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  });

  test("makes the answer JSON that matches; stdout has only that, and the result has its value", async () => {
    const place = newPlace();
    place.write("schema.json", SCHEMA);
    const { emulator, env } = await emulatorOf({
      steps: [{ output: [{ message: "Paris, I think." }] }, { output: [{ message: '{"city":"Paris"}' }] }],
    });
    const ran = await run(place, ["-p", "--output-schema", "schema.json", "where?"], { env });
    expect(ran).toMatchObject({ code: 0, out: '{"city":"Paris"}\n' });
    const [exchange] = emulator.exchanges;
    expect(exchange?.requestText).toContain('"json_schema"');
  });

  test("adds the value to --json", async () => {
    const place = newPlace();
    place.write("schema.json", SCHEMA);
    const { env } = await emulatorOf({ steps: [{ output: [{ message: '{"city":"Paris"}' }] }] });
    const ran = await run(place, ["-p", "--json", "--output-schema", "schema.json", "where?"], { env });
    expect(jsonLines(ran.out).at(-1)).toMatchObject({ type: "result", output: { city: "Paris" } });
  });

  test("fails the turn if the answer does not match twice", async () => {
    const place = newPlace();
    place.write("schema.json", SCHEMA);
    const { env } = await emulatorOf({
      steps: [{ output: [{ message: "{}" }] }, { output: [{ message: '{"city":1}' }] }],
    });
    const ran = await run(place, ["-p", "--output-schema", "schema.json", "-o", "x.json", "where?"], { env });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("[output_invalid]");
    expect(existsSync(join(place.work, "x.json"))).toBe(false);
  });

  test.for([
    ["absent.json", undefined, "cannot read this file"],
    ["bad.json", "{", "incomplete JSON: it ends at line 1, column 2"],
    ["bad.json", '{"type":\n  object}', "invalid JSON at line 2, column 3"],
    ["bad.json", "[]", "JSON Schema of an object"],
    ["bad.json", '{"type":"string"}', "The output schema cannot be used: it must describe an object"],
    ["bad.json", '{"type":"array","items":{}}', "Put the value into a property of an object"],
  ] as const)("refuses %s with %s before anything is written", async ([name, text, part]) => {
    const place = newPlace();
    if (text !== undefined) place.write(name, text);
    const ran = await run(place, ["-p", "--output-schema", name, "hi"]);
    expectProblem(ran, 2, "schema_file_invalid");
    expect(ran.err).toContain(part);
    expect(treeOf(place.home)).toEqual([]);
  });
});

const providers = (baseUrl: string) =>
  JSON.stringify({
    paid: {
      dialect: "openai-responses",
      baseUrl,
      keyVariable: "OPENAI_API_KEY",
      profile: "openai",
      prices: { "emu-reasoner": { input: 1_000_000, output: 1_000_000 } },
    },
  });

describe("--max-cost USD", () => {
  test("stops a turn that has reached it, and the result reports the cost", async () => {
    const place = newPlace();
    const { env, emulator } = await emulatorOf();
    await run(place, ["config", "set", "providers", providers(emulator.baseUrl)]);
    const ran = await run(
      place,
      ["-p", "--json", "-m", "paid/emu-reasoner", "--max-cost", "0.5", "List the files."],
      {
        env,
      },
    );
    expect(ran.code).toBe(4);
    const result = jsonLines(ran.out).at(-1);
    expect(result).toMatchObject({ status: "incomplete", reason: "max_cost", steps: 1 });
    const { inputTokens = 0, outputTokens = 0 } = (result?.["usage"] ?? {}) as Record<string, number>;
    expect(result?.["costUsd"]).toBe(inputTokens + outputTokens);
    expect(eventsOf((await onlyLog(place)).events, "tool_result").map(({ status }) => status)).toEqual([
      "not_executed",
    ]);
  });

  test("stops a session that has already cost it, and says what to do", async () => {
    const place = newPlace();
    const { env, emulator } = await emulatorOf();
    await run(place, ["config", "set", "providers", providers(emulator.baseUrl)]);
    const first = await run(place, ["-p", "-m", "paid/emu-reasoner", "hi"], { env });
    expect(first.code).toBe(0);
    const sent = emulator.exchanges.length;
    const ran = await run(place, ["-p", "-c", "-m", "paid/emu-reasoner", "--max-cost", "0.5", "and?"], {
      env,
    });
    expect(ran.code).toBe(4);
    expect(ran.err).toMatch(
      /the turn stopped at a limit: the session has cost \d+ USD, and its limit is 0\.5 USD\. Raise the limit \(maxSessionCostUsd, --max-cost\), or start a new session \[max_cost\]/,
    );
    expect(emulator.exchanges).toHaveLength(sent);
    expect(
      (await run(place, ["-p", "-c", "-m", "paid/emu-reasoner", "--max-cost", "999999", "and?"], { env }))
        .code,
    ).toBe(0);
  });

  test("is refused before anything is written if the price is not known", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    expectProblem(await run(place, ["-p", "--max-cost", "1", "hi"], { env }), 2, "price_unknown");
    expect(treeOf(place.home)).toEqual([]);
  });

  test("never stops the emulator, which costs nothing", async () => {
    const ran = await run(newPlace(), ["-p", "--json", "--max-cost", "0.01", "hi"]);
    expect(ran.code).toBe(0);
    expect(jsonLines(ran.out).at(-1)).toMatchObject({ costUsd: 0 });
  });

  test.for([["0"], ["-1"], ["much"], ["1e3"], [""]])("refuses %j as an amount", async ([amount]) => {
    expectProblem(await run(newPlace(), ["-p", `--max-cost=${amount}`, "hi"]), 2, "number_invalid");
  });
});

test("--ephemeral keeps nothing and says so", async () => {
  const place = newPlace();
  const ran = await run(place, ["-p", "--ephemeral", "hello"]);
  expect(ran.code).toBe(0);
  expect(ran.err).toContain("· not saved");
  expect(treeOf(place.home)).toEqual([]);
  expectProblem(await run(place, ["-p", "--ephemeral", "-c", "x"]), 2, "usage");
});

test.for([
  ["auto", ["· Looking", "· Thought for 0s"]],
  ["title", ["· Looking", "· Thought for 0s"]],
  ["full", ["· Looking", "· Thought for 0s", "  **Looking**", "  ", "  At the files."]],
  ["none", []],
] as const)("--show-reasoning %s", async ([how, expected]) => {
  const { env } = await emulatorOf({
    steps: [{ output: [{ reasoning: ["**Looking**\n\nAt the files."] }, { message: "Done." }] }],
  });
  const ran = await run(newPlace(), ["-p", "--show-reasoning", how, "hi"], { env });
  expect(ran).toMatchObject({ code: 0, out: "Done.\n" });
  const [, ...lines] = ran.err
    .replaceAll(/\b\d+(?:\.\d+)?(?:s| ms)\b/g, "0s")
    .trimEnd()
    .split("\n");
  expect(lines.map((line) => line.trimEnd())).toEqual(expected.map((line) => line.trimEnd()));
});

test("--debug shows what each request carries, never a payload, and stack traces", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "Think of a number."], { env });
  const ran = await run(place, ["-p", "-c", "--debug", "--system", "Be brief.", "Which number?"], { env });
  expect(ran.code).toBe(0);
  expect(ran.err).toMatch(
    /^request to emu-reasoner: \d+ bytes, 4 items, 6 tools, 9 characters of instructions$/m,
  );
  expect(ran.err).toMatch(/^ *\[0\] user message input_text 18: Think of a number\.$/m);
  expect(ran.err).toMatch(/^ *\[1\] reasoning payload \(1 summary part\) \d+$/m);
  expect(ran.err).toMatch(/counts: message 3, reasoning 1$/m);
  const log = readFileSync((await onlyLog(place)).file, "utf8");
  const payload = /"encrypted_content":"([^"]{40})/.exec(log)?.[1] ?? "";
  expect(payload).not.toBe("");
  expect(ran.err).not.toContain(payload);
  const failed = await run(place, ["-p", "--debug", "hi", "-m", "gpt"]);
  expect(failed.err).toMatch(/\[model_invalid\]\n[^]*\n\s+at /);
});

test("a missing key is refused before a session is created; going back in a session needs no key", async () => {
  const place = newPlace();
  const ran = await run(place, ["-p", "--json", "hi", "-m", "openai/gpt-5.6"]);
  expectProblem(ran, 2, "api_key_missing");
  expect(ran.err).toContain("set OPENAI_API_KEY");
  expect(treeOf(place.home)).toEqual([]);
  const { env } = await emulatorOf();
  await run(place, ["-p", "hello"], { env });
  const { id } = await onlyLog(place);
  expect(await run(place, ["undo", id])).toMatchObject({ code: 0 });
  expect(await run(place, ["fork", id])).toMatchObject({ code: 0 });
  expectProblem(await run(place, ["retry", id]), 2, "api_key_missing");
  expect((await logsOf(place)).size).toBe(2);
});
