/**
 * kill -9, then `-c`: the session continues, no acknowledged event is lost, no tool runs twice, and the strict server
 * accepts every request. The test waits for what the child prints, never for time.
 */

import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import type { Emulator, Fault } from "../../src/emulator/index.ts";
import {
  emulatorOf,
  eventsOf,
  expectAllAccepted,
  newPlace,
  onlyLog,
  type Place,
  type Ran,
  run,
  type Running,
  start,
  toolsFile,
} from "./harness.ts";

type Env = Readonly<Record<string, string>>;

const steps = [
  {
    output: [
      { reasoning: { summary: ["**Counting**\n\nOne, two, three, four, five, six."] } },
      { message: "It was seven, I am sure." },
    ],
  },
];

/** Kills it and checks that every acknowledged event is in the file, byte for byte. */
async function killed(place: Place, running: Running): Promise<string> {
  running.kill("SIGKILL");
  const ran = await running.ended;
  expect(ran).toMatchObject({ code: null, signal: "SIGKILL" });
  const { file, events } = await onlyLog(place);
  const text = readFileSync(file, "utf8");
  const acknowledged = ran.out.split("\n").filter((line) => line.includes('"seq":') && line.endsWith("}"));
  expect(acknowledged.length).toBeGreaterThan(0);
  const lines = text.split("\n").map((line) => line.replace(/,"sum":"[0-9a-f]{8}"\}$/, "}"));
  expect(lines.slice(0, acknowledged.length)).toEqual(acknowledged);
  expect(eventsOf(events, "turn_end").filter(({ turn }) => turn === events.at(-1)?.turn)).toEqual([]);
  return text;
}

/** Continues the session and checks that the log only grew. */
async function goesOn(place: Place, before: string, args: readonly string[], env: Env): Promise<Ran> {
  const ran = await run(place, ["-p", "-c", ...args], { env });
  expect(ran).toMatchObject({ code: 0, signal: null });
  const { file } = await onlyLog(place);
  const after = readFileSync(file, "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect(after.length).toBeGreaterThan(before.length);
  return ran;
}

function turnsOf(events: readonly LoggedEvent[]): readonly (readonly [string, number])[] {
  return eventsOf(events, "turn_end").map(({ status, steps: count }) => [status, count] as const);
}

/** The position of the n-th event of a kind in the stream of the scripted answer. */
async function positionOf(kind: string, nth: number): Promise<number> {
  const { emulator, env } = await emulatorOf({ steps });
  await run(newPlace(), ["-p", "count"], { env });
  const at = (emulator.exchanges[0]?.events ?? []).flatMap(({ type }, index) =>
    type === kind ? [index] : [],
  );
  expect(at.length).toBeGreaterThan(nth);
  return at[nth] ?? -1;
}

function stallAfter(index: number): Fault {
  return { type: "stall", at: { where: "after", unit: "event", index } };
}

describe.each([
  ["thinking", "response.reasoning_summary_text.delta", 6, "reasoning_delta", "reasoning"],
  ["answering", "response.output_text.delta", 3, "text_delta", "text"],
] as const)("killed in the middle of %s", (_name, wire, nth, live, kind) => {
  async function interrupted(): Promise<{ place: Place; emulator: Emulator; env: Env; before: string }> {
    const fault = stallAfter(await positionOf(wire, nth));
    const place = newPlace();
    const { emulator, env } = await emulatorOf({ steps: [...steps, ...steps], faults: [fault] });
    const running = start(place, ["-p", "--json", "count"], { env });
    await running.event(live);
    return { place, emulator, env, before: await killed(place, running) };
  }

  test("-c alone finishes the turn with another attempt of the same step", async () => {
    const { place, emulator, env, before } = await interrupted();
    expect((await goesOn(place, before, [], env)).out).toBe("It was seven, I am sure.\n");
    const { events } = await onlyLog(place);
    expect(turnsOf(events)).toEqual([["completed", 1]]);
    expect(eventsOf(events, "user_message")).toHaveLength(1);
    expect(eventsOf(events, "partial")).toMatchObject([{ kind }]);
    expect(eventsOf(events, "response_start").map(({ step, attempt }) => [step, attempt])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(eventsOf(events, "response_end").map(({ status }) => status)).toEqual(["cut", "completed"]);
    expectAllAccepted(emulator);
  });

  test("show and inspect say so, how to continue and what was seen, even after it continued", async () => {
    const { place, env, before } = await interrupted();
    const { id, file } = await onlyLog(place);
    const told = `interrupted: throughline -p -r ${id} finishes it; a new message continues without it\n`;
    const shown = await run(place, ["sessions", "show", id, "--reasoning", "full"]);
    expect(shown.out.endsWith(`\n─ ${told}`), shown.out).toBe(true);
    expect((await run(place, ["inspect", id])).out.endsWith(`\n  ${told}`)).toBe(true);
    const seen = kind === "text" ? /^It.* …\(cut\)$/m : /^ {2}Counting\n/m;
    expect(shown.out).toMatch(seen);
    expect(readFileSync(file, "utf8")).toBe(before);
    await goesOn(place, before, [], env);
    const after = (await run(place, ["sessions", "show", id])).out;
    expect(after).not.toContain("interrupted");
    if (kind === "text") expect(after).toMatch(/^It.* …\(cut; retried\)$/m);
  });

  test("-c with a prompt closes the turn as interrupted and continues", async () => {
    const { place, emulator, env, before } = await interrupted();
    await goesOn(place, before, ["What did I ask first?"], env);
    const { events } = await onlyLog(place);
    expect(turnsOf(events)).toEqual([
      ["interrupted", 1],
      ["completed", 1],
    ]);
    expect(eventsOf(events, "partial")).toMatchObject([{ kind }]);
    await goesOn(place, "", ["And once more."], env);
    expectAllAccepted(emulator);
  });
});

/** Leaves a mark for every run, and says so; then it waits forever, unless told not to. */
function marking(idempotent: boolean): string {
  return `export const mark = tool({
  name: "leave_mark", description: "d", access: "read", idempotent: ${idempotent}, input: { type: "object" },
  run: async (_, { progress, idempotencyKey }) => {
    fs.appendFileSync("marks.txt", idempotencyKey + "\\n");
    progress("marked");
    if (process.env.WAITS) await new Promise((resolve) => setTimeout(resolve, 600_000));
    return "marked";
  },
});`;
}

async function killedInTool(
  idempotent: boolean,
): Promise<{ place: Place; emulator: Emulator; env: Env; before: string; tools: readonly string[] }> {
  const place = newPlace();
  const { emulator, env } = await emulatorOf();
  const tools = ["--tools", toolsFile(place, marking(idempotent))];
  const running = start(place, ["-p", "--json", ...tools, "please leave_mark"], {
    env: { ...env, WAITS: "1" },
  });
  await running.event("tool_progress");
  return { place, emulator, env, tools, before: await killed(place, running) };
}

describe("killed in the middle of a tool", () => {
  test.each([
    ["-c alone", []],
    ["-c with a prompt", ["hello again"]],
  ] as const)("%s: the tool does not run twice, and its outcome is unknown", async (_name, prompt) => {
    const { place, emulator, env, before, tools } = await killedInTool(false);
    await goesOn(place, before, [...tools, ...prompt], env);
    expect(place.read("marks.txt").trim().split("\n")).toHaveLength(1);
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "tool_start")).toHaveLength(1);
    expect(eventsOf(events, "tool_result").map(({ status }) => status)).toEqual(["outcome_unknown"]);
    expect(turnsOf(events).map(([status]) => status)).toEqual(
      prompt.length === 0 ? ["completed"] : ["interrupted", "completed"],
    );
    expectAllAccepted(emulator);
  });

  test("-c alone: a tool that declares itself idempotent runs again, under the same key", async () => {
    const { place, emulator, env, before, tools } = await killedInTool(true);
    await goesOn(place, before, tools, env);
    const marks = place.read("marks.txt").trim().split("\n");
    expect(marks).toHaveLength(2);
    expect(new Set(marks).size).toBe(1);
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "tool_result")).toMatchObject([{ status: "ok", text: "marked" }]);
    expect(turnsOf(events)).toEqual([["completed", 2]]);
    expectAllAccepted(emulator);
  });

  test("before the response ended: its call does not run, and the model is asked again", async () => {
    const place = newPlace();
    // The next answer stalls at its start, so however late the process is killed, none of it has arrived.
    const { emulator, env } = await emulatorOf({ faults: [{ type: "no-terminal" }, stallAfter(0)] });
    const tools = ["--tools", toolsFile(place, marking(false))];
    const running = start(place, ["-p", "--json", ...tools, "please leave_mark"], { env });
    // The first answer arrived without an end, and the next was requested.
    await expect.poll(() => emulator.report().requests.length).toBe(2);
    const before = await killed(place, running);
    expect(eventsOf((await onlyLog(place)).events, "tool_call")).toHaveLength(1);
    await goesOn(place, before, tools, env);
    expect(place.read("marks.txt").trim().split("\n")).toHaveLength(1);
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "tool_call")).toHaveLength(2);
    expect(turnsOf(events)).toEqual([["completed", 2]]);
    expectAllAccepted(emulator);
  });
});

/**
 * Kills after so many lines on stdout, wherever that is. Line 1 only names the session; line 2 is the first event, and
 * nothing was acknowledged before it. For a longer list set THROUGHLINE_KILLS=2,3,4,…
 */
const MOMENTS = (process.env["THROUGHLINE_KILLS"] ?? "2,14,22,40").split(",").map(Number);

test.concurrent.for(MOMENTS)(
  "a process killed after line %d of --json can continue with and without a prompt",
  async (line) => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf({ paceMs: 2 });
    place.write("a.txt", "a");
    const running = start(place, ["-p", "--json", "Explain while you work."], { env });
    await running.seen(({ out }) => out.split("\n").length > line, `line ${line}`);
    running.kill("SIGKILL");
    await running.ended;
    const { events } = await onlyLog(place);
    const open = eventsOf(events, "turn_end").length === 0;
    if (open) expect(await run(place, ["-p", "-c"], { env })).toMatchObject({ code: 0 });
    expect(await run(place, ["-p", "-c", "What did I ask first?"], { env })).toMatchObject({ code: 0 });
    const after = (await onlyLog(place)).events;
    expect(after.slice(0, events.length)).toEqual(events);
    expect(turnsOf(after).map(([status]) => status)).toEqual(["completed", "completed"]);
    expectAllAccepted(emulator);
  },
);
