/** `stats`: what sessions used. */

import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import {
  emulatorOf,
  eventsOf,
  expectProblem,
  logsOf,
  newPlace,
  onlyLog,
  type Place,
  run,
  start,
  toolsFile,
} from "./harness.ts";

type Json = Readonly<Record<string, unknown>>;

async function statsOf(place: Place, ...args: readonly string[]): Promise<Json> {
  const ran = await run(place, ["stats", "--json", ...args]);
  expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: "" });
  return JSON.parse(ran.out) as Json;
}

test("an empty home has nothing to report, and stats says so", async () => {
  const ran = await run(newPlace(), ["stats"]);
  expect(ran).toMatchObject({ code: 0, err: "" });
  expect(ran.out).toContain("0 sessions, the last 30 days: no requests.");
});

test("tokens, tools, errors and omitted items match the logs, per model", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  toolsFile(
    place,
    `export const weather = tool({ name: "get_weather", description: "weather", access: "read",
      input: { type: "object", properties: { city: { type: "string" } } },
      run: ({ city }) => { if (city === "Rome") throw new Error("no"); return "Sunny"; } });`,
  );
  await run(place, ["-p", "--tools", "tools.mjs", "What is the weather in Paris and in Rome?"], { env });
  await run(place, ["-p", "-c", "-m", "openai/emu-reasoner-mini", "Write hello.txt."], { env });
  const { events } = await onlyLog(place);
  const used = eventsOf(events, "response_end").map(({ usage }) => usage);
  const sum = (field: "inputTokens" | "outputTokens" | "cachedTokens" | "reasoningTokens"): number =>
    used.reduce((total, usage) => total + (usage?.[field] ?? 0), 0);
  const stats = await statsOf(place);
  expect(stats).toMatchObject({
    v: 1,
    type: "stats",
    complete: true,
    sessions: 1,
    turns: { completed: 2 },
    total: {
      requests: used.length,
      inputTokens: sum("inputTokens"),
      cachedTokens: sum("cachedTokens"),
      outputTokens: sum("outputTokens"),
      reasoningTokens: sum("reasoningTokens"),
      costUsd: null, // an endpoint that is not the provider's own
    },
    models: [{ model: "openai/emu-reasoner" }, { model: "openai/emu-reasoner-mini" }],
    tools: [
      { tool: "get_weather", calls: 2, ok: 1, failed: 1, denied: 0 },
      { tool: "write_file", calls: 1, ok: 0, failed: 0, denied: 1 },
    ],
    unreadable: [],
  });
  const left = eventsOf(events, "response_start").flatMap(({ leftOut }) => leftOut ?? []);
  expect(left.length).toBeGreaterThan(0);
  expect((stats["leftOut"] as readonly Json[]).map(({ reason }) => reason)).toEqual(
    [...new Set(left.map(({ reason }) => reason))].toSorted(),
  );
  const text = (await run(place, ["stats"])).out;
  expect(text).toContain("tokens per day (UTC)");
  expect(text).toContain("Cost: unknown");
  expect(text).toMatch(/left out because +items +requests/);
});

test("the emulator costs nothing", async () => {
  const place = newPlace();
  await run(place, ["-p", "-m", "emulator/emu-reasoner", "Hello"]);
  expect((await statsOf(place))["total"]).toMatchObject({ requests: 1, costUsd: 0, unpriced: 0 });
});

test("the prices of a user's own provider count", async () => {
  const place = newPlace();
  const { env, emulator } = await emulatorOf();
  const own = {
    dialect: "openai-responses",
    baseUrl: emulator.baseUrl,
    keyVariable: "OPENAI_API_KEY",
    profile: "openai",
    prices: { "emu-reasoner": { input: 1_000_000, output: 1_000_000 } },
  };
  await run(place, ["config", "set", "providers", JSON.stringify({ paid: own })]);
  await run(place, ["-p", "-m", "paid/emu-reasoner", "Hello"], { env });
  const total = (await statsOf(place))["total"] as Readonly<Record<string, number>>;
  expect(total).toMatchObject({
    unpriced: 0,
    costUsd: (total["inputTokens"] ?? 0) + (total["outputTokens"] ?? 0),
  });
});

test("errors are counted by their codes", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({ faults: [{ type: "http", status: 401 }] });
  await run(place, ["-p", "Hello"], { env });
  const stats = await statsOf(place);
  expect(Object.values(stats["errors"] as Json)).toEqual([1]);
  expect(stats["turns"]).toEqual({ failed: 1 });
});

test("events copied by a fork count once", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "Hello"], { env });
  const before = await statsOf(place);
  const [id = ""] = (await logsOf(place)).keys();
  await run(place, ["fork", id], { env });
  const after = await statsOf(place);
  expect([after["sessions"], after["total"]]).toEqual([2, before["total"]]);
});

test("only the selected days and directories count", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "Hello"], { env });
  const elsewhere = await run(place, ["stats", "--json", "--here"], { cwd: place.home });
  expect(JSON.parse(elsewhere.out)).toMatchObject({ sessions: 0, total: { requests: 0 } });
  expect(await statsOf(place, "--here", "--days", "1")).toMatchObject({
    sessions: 1,
    total: { requests: 1 },
  });
  expect(await statsOf(place, "--all")).toMatchObject({ sessions: 1 });
});

test("a log that cannot be read is named, and the others count", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "Hello"], { env });
  place.damaged = true;
  writeFileSync(join(place.sessions, "broken.jsonl"), '{"v":1}\nnot a line\n{"v":1}\n', { mode: 0o600 });
  const stats = await statsOf(place);
  expect(stats).toMatchObject({ sessions: 1, total: { requests: 1 } });
  expect((stats["unreadable"] as readonly Json[]).map(({ id }) => id)).toEqual(["broken"]);
});

test.for([["0"], ["-1"], ["x"], ["1.5"]])("--days %s is refused", async ([days = ""]) => {
  expectProblem(await run(newPlace(), ["stats", `--days=${days}`]), 2, "number_invalid");
});

test("many sessions are read with progress, and Ctrl-C reports what was read so far", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  await run(place, ["-p", "List the files."], { env });
  const { file } = await onlyLog(place);
  for (let index = 0; index < 2000; index += 1)
    copyFileSync(file, join(place.sessions, `copy${index}.jsonl`));
  place.damaged = true; // two thousand logs need no check of their own
  const running = start(place, ["stats", "--json"]);
  await running.seen(({ err }) => err.includes(" of 2001 sessions read"), "progress");
  running.kill("SIGINT");
  const ran = await running.ended;
  expect(ran.code).toBe(130);
  const stats = JSON.parse(ran.out) as Json;
  expect(stats["complete"]).toBe(false);
  expect(stats["sessions"]).toBeGreaterThan(0);
  expect(stats["total"]).toMatchObject({ requests: 2 });
});
