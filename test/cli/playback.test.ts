/** `--playback`: a recorded run again, with the same events; and the errors for a file that is not right. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { parseFaults } from "../../src/emulator/index.ts";
import { PNG } from "../support/pictures.ts";
import {
  emulatorOf,
  expectProblem,
  jsonLines,
  newPlace,
  type Place,
  run,
  start,
  toolsFile,
  treeOf,
} from "./harness.ts";

const SAME = /same as recorded: \d+ events? match, apart from ids and times\n$/;

/** Plays back without anything of the recording machine: no key, no server. */
async function playedBack(place: Place, ...args: readonly string[]): ReturnType<typeof run> {
  const elsewhere = newPlace();
  return run(elsewhere, ["--playback", join(place.work, "r.jsonl"), "--fast", ...args]);
}

const TOOLS = `
export const weather = tool({ name: "get_weather", description: "weather", access: "read",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => { fs.appendFileSync("ran.txt", city + "\\n"); if (city === "Rome") throw new Error("no report"); return "Sunny in " + city; } });`;

const FACTS = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
  additionalProperties: false,
};

const call = (name: string, args: object, text = "Working"): object => ({
  output: [{ reasoning: text }, { function_call: { name, arguments: args } }],
});

describe("a playback gives the same events and the same answer", () => {
  test.for([
    ["a plain answer", {}, ["Hello"], 0],
    [
      "tools that succeed and fail in parallel",
      {},
      ["--tools", "tools.mjs", "What is the weather in Paris and in Rome?"],
      0,
    ],
    ["a denied call", {}, ["Write hello.txt."], 3],
    [
      "arguments that do not match",
      { steps: [call("get_weather", { town: 1 })] },
      ["--tools", "tools.mjs", "Go on."],
      0,
    ],
    ["a missing tool", { steps: [call("nothing", {})] }, ["Go on."], 0],
    [
      "a step limit",
      { steps: [call("list_files", { path: "." }), call("list_files", { path: ".." })] },
      ["--max-steps", "1", "Go on."],
      4,
    ],
    [
      "a refusal and its healing",
      { faults: [...parseFaults("none"), ...parseFaults("invalid-encrypted-content")] },
      ["List the files."],
      0,
    ],
    ["a lost connection and its retry", { faults: parseFaults("cut=after-item:0") }, ["Hello"], 0],
    [
      "an overloaded server that says when to retry",
      { faults: parseFaults("429=retry-after:1") },
      ["Hello"],
      0,
    ],
    ["a failed answer", { faults: parseFaults("401") }, ["Hello"], 1],
    ["another system prompt", {}, ["--system", "Be brief.", "Hello"], 0],
    ["structured output", {}, ["--output-schema", "schema.json", "Give me the facts."], 0],
  ] as const)("%s", async ([, setup, args, code]) => {
    const place = newPlace();
    toolsFile(place, TOOLS);
    place.write("schema.json", JSON.stringify(FACTS));
    const { env } = await emulatorOf(setup);
    const first = await run(place, ["-p", "--record", "r.jsonl", ...args], { env });
    expect(first.code, first.err).toBe(code);
    const second = await playedBack(place, "--strict");
    expect(second.err).toMatch(SAME);
    expect({ out: second.out, code: second.code }).toEqual({ out: first.out, code: first.code });
  });
});

test.for(["emu-claude", "emu-deepseek", "emu-router"])(
  "a run of %s plays back, as in any dialect",
  async (name) => {
    const place = newPlace();
    const args = ["-p", "-m", `emulator/${name}`, "--record", "r.jsonl", "List the files."];
    const first = await run(place, args);
    expect(first.code).toBe(0);
    const second = await playedBack(place, "--strict");
    expect(second.err).toMatch(SAME);
    expect({ out: second.out, code: second.code }).toEqual({ out: first.out, code: 0 });
  },
);

const OUTCOME = `
const outcome = (more) => ({ [Symbol.for("throughline.outcome/1")]: true, images: [], ...more });
const png = ${JSON.stringify(PNG)};
export const look = tool({ name: "look", description: "look", access: "read", input: { type: "object" },
  run: () => outcome({ status: "ok", text: "[image image/png]", images: [{ mediaType: "image/png", data: png }], forPerson: "only for you" }) });
export const lose = tool({ name: "lose", description: "lose", access: "read", input: { type: "object" },
  run: () => outcome({ status: "outcome_unknown", text: "the server is gone" }) });`;

test("a result with an image and a word for the person plays back, and every command shows the word", async () => {
  const place = newPlace();
  toolsFile(place, OUTCOME);
  const steps = [call("look", {}), call("lose", {}), { output: [{ message: "Seen." }] }];
  const { emulator, env } = await emulatorOf({ steps });
  const args = ["-p", "--record", "r.jsonl", "--tools", "tools.mjs", "Look."];
  const first = await run(place, args, { env });
  expect(first).toMatchObject({ code: 0, err: expect.stringContaining("for you: only for you") });
  expect(emulator.exchanges.at(-1)?.requestText).toContain(`data:image/png;base64,${PNG}`);
  expect(emulator.exchanges.map((one) => one.requestText).join("")).not.toContain("only for you");
  const second = await playedBack(place, "--strict");
  expect(second.err).toMatch(SAME);
  for (const command of [["show"], ["export", "--format", "markdown"], ["export", "--format", "html"]]) {
    const shown = await run(place, ["sessions", ...command, "--last"], { env });
    expect(shown.out, command.join(" ")).toContain("only for you");
  }
});

test("several turns with another model in between, over one log, play back", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "List the files."], { env });
  await run(place, ["-p", "-c", "-m", "openai/emu-plain", "Hello"], { env });
  const third = await run(
    place,
    ["-p", "-c", "-m", "openai/emu-reasoner", "--record", "r.jsonl", "And now?"],
    { env },
  );
  const played = await playedBack(place, "--strict");
  expect(played.err).toMatch(SAME);
  expect(played.out).toBe(third.out);
});

test("a playback runs no tool, sends nothing and keeps nothing", async () => {
  const place = newPlace();
  toolsFile(place, TOOLS);
  const { emulator, env } = await emulatorOf();
  await run(
    place,
    [
      "-p",
      "--permissions",
      "auto",
      "--tools",
      "tools.mjs",
      "--record",
      "r.jsonl",
      "What is the weather in Paris?",
    ],
    { env },
  );
  const requests = emulator.exchanges.length;
  expect(place.read("ran.txt")).toBe("Paris\n");
  const elsewhere = newPlace();
  const played = await run(elsewhere, ["--playback", join(place.work, "r.jsonl"), "--fast"], { env });
  expect(played.code).toBe(0);
  expect([place.read("ran.txt"), emulator.exchanges.length]).toEqual(["Paris\n", requests]);
  expect(treeOf(elsewhere.work)).toEqual([]);
  expect(treeOf(elsewhere.home)).toEqual([]);
});

test("a turn that was stopped with Ctrl-C plays back as one", async () => {
  const place = newPlace();
  // Long enough not to end before the signal arrives, on any machine.
  const { env } = await emulatorOf({ paceMs: 5, steps: [{ output: [{ message: "word ".repeat(6000) }] }] });
  const running = start(place, ["-p", "--json", "--record", "r.jsonl", "go"], { env });
  await running.event("text_delta");
  running.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
  const played = await playedBack(place, "--strict");
  expect(played.err).toMatch(SAME);
  expect(played.code).toBe(130);
});

test("a JSONL trace plays back as well, and --json prints its events", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "--trace", "r.jsonl", "Hello"], { env });
  const played = await playedBack(place, "--json", "--strict");
  const lines = jsonLines(played.out);
  expect([lines[0]?.["type"], lines.at(-1)?.["type"], lines.at(-1)?.["status"]]).toEqual([
    "session",
    "result",
    "completed",
  ]);
  expect(played.err).toMatch(SAME);
});

async function recorded(): Promise<Place> {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "--record", "r.jsonl", "Hello"], { env });
  return place;
}

describe("a playback that differs from the recording", () => {
  test("reports the request with both hashes, and continues", async () => {
    const played = await playedBack(await recorded(), "Something else");
    expect(played.err).toMatch(
      /request 1 differs from the recorded one: hash [0-9a-f]{12} instead of [0-9a-f]{12} \[playback_differs\]/,
    );
    expect([played.code, played.out.includes("Hello")]).toEqual([0, true]);
  });

  test("ends the turn with exit code 5 under --strict", async () => {
    const played = await playedBack(await recorded(), "--strict", "Something else");
    expect([played.code, played.out]).toEqual([5, ""]);
  });

  test("reports a request too many when the recording has ended", async () => {
    const place = await recorded();
    const lines = place.read("r.jsonl").split("\n");
    const kept = lines.filter((line) => !/"type":"(request|response|data|end)","n":1/.test(line));
    writeFileSync(join(place.work, "r.jsonl"), kept.join("\n"));
    const played = await playedBack(place, "--strict");
    expect(played.err).toContain("the recording has only 0 requests, and this run makes more");
    expect(played.code).toBe(5);
  });

  test("shows a tampered answer in the events", async () => {
    const place = await recorded();
    const text = readFileSync(join(place.work, "r.jsonl"), "utf8");
    const changed = text
      .split("\n")
      .map((line) => (line.includes('"type":"data"') ? line.replaceAll("emulator", "simulator") : line))
      .join("\n");
    writeFileSync(join(place.work, "r.jsonl"), changed);
    const played = await playedBack(place, "--strict");
    expect(played.err).toMatch(/event \d+ of the run differs: recorded .* \[playback_differs\]/);
    expect(played.code).toBe(5);
  });
});

describe("a file or combination that cannot be played back is refused", () => {
  test.for([
    ["no such file", undefined, "file_unreadable"],
    ["a foreign file", "hello\n", "recording_foreign"],
    [
      "a damaged file",
      '{"v":1,"type":"recording","run":{"session":"s","permissions":"ask"}}\n{"t":1,"type":"data","n":4}\n',
      "recording_damaged",
    ],
    [
      "a file without a message",
      '{"v":1,"type":"recording","run":{"session":"s","permissions":"ask"}}\n',
      "playback_unsupported",
    ],
    [
      "a file with a path as the session id",
      '{"v":1,"type":"recording","run":{"session":"../s","permissions":"ask"}}\n',
      "session_id_invalid",
    ],
  ] as const)("%s", async ([, text, code]) => {
    const place = newPlace();
    if (text !== undefined) place.write("r.jsonl", text);
    const ran = await run(place, ["--playback", "r.jsonl"]);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err.trimEnd().endsWith(`[${code}]`), ran.err).toBe(true);
  });

  test.for([["-c"], ["-m", "emulator/emu-plain"], ["--record", "x"]])("together with %s", async (flags) => {
    const place = newPlace();
    place.write("r.jsonl", "");
    expectProblem(await run(place, ["--playback", "r.jsonl", ...flags]), 2, "usage");
  });
});
