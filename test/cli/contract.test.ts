/**
 * What scripts rely on, repeated here by hand: exit codes, the first and the last line of --json. An intended change
 * changes this file too, and `v` when a field changes its meaning or is removed.
 */

import { describe, expect, test } from "vitest";

import { EXIT } from "../../src/interface/cli/exit-codes.ts";
import { emulatorOf, jsonLines, newPlace, run, start } from "./harness.ts";

test("the exit codes", () => {
  expect(EXIT).toEqual({
    ok: 0,
    turnFailed: 1,
    usage: 2,
    permission: 3,
    limit: 4,
    differs: 5,
    internal: 70,
    hungUp: 129,
    interrupted: 130,
    terminated: 143,
  });
});

const FIRST = ["v", "type", "session", "model", "location"];
const LAST = ["v", "type", "status", "text", "steps", "usage", "costUsd", "durationMs"];
const USAGE = ["cachedTokens", "inputTokens", "outputTokens", "reasoningTokens"];
const STALL = { type: "stall", at: { where: "after", unit: "event", index: 4 } } as const;

function ends(out: string) {
  const lines = jsonLines(out);
  const [first, last] = [lines[0] ?? {}, lines.at(-1) ?? {}];
  return { first: Object.keys(first), last: Object.keys(last), value: last, v: [first["v"], last["v"]] };
}

describe("the first and the last line of --json and the exit code are as documented for", () => {
  test("a completed turn", async () => {
    const { env } = await emulatorOf();
    const ran = await run(newPlace(), ["-p", "--json", "hi"], { env });
    const { first, last, value, v } = ends(ran.out);
    expect({ code: ran.code, first, last, v }).toEqual({ code: 0, first: FIRST, last: LAST, v: [1, 1] });
    expect(Object.keys(value["usage"] as object).toSorted()).toEqual(USAGE);
    expect(value).toMatchObject({ status: "completed", steps: 1, costUsd: null });
  });

  test("a permission that could not be requested", async () => {
    const { env } = await emulatorOf();
    const ran = await run(newPlace(), ["-p", "--json", 'Run "echo x".'], { env });
    const { last, value } = ends(ran.out);
    expect({ code: ran.code, last }).toEqual({ code: 3, last: LAST });
    expect(value).toMatchObject({ status: "completed" });
  });

  test("a limit", async () => {
    const { env } = await emulatorOf();
    const ran = await run(newPlace(), ["-p", "--json", "--max-steps", "1", "List the files."], { env });
    const { last, value } = ends(ran.out);
    expect({ code: ran.code, last }).toEqual({ code: 4, last: [...LAST, "reason"] });
    expect(value).toMatchObject({ status: "incomplete", reason: "max_steps" });
  });

  test("a refusal", async () => {
    const { env } = await emulatorOf({ accounts: {} });
    const ran = await run(newPlace(), ["-p", "--json", "hi"], { env });
    const { last, value } = ends(ran.out);
    expect({ code: ran.code, last }).toEqual({ code: 1, last: [...LAST, "error"] });
    expect(value["error"]).toMatchObject({ code: "invalid_api_key", class: "FATAL", status: 401 });
  });

  test.for([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s", async ([signal, code]) => {
    const { env } = await emulatorOf({ faults: [STALL] });
    const running = start(newPlace(), ["-p", "--json", "hi"], { env });
    await running.event("response_start");
    running.kill(signal);
    const ran = await running.ended;
    const { last, value } = ends(ran.out);
    expect({ code: ran.code, last }).toEqual({ code, last: LAST });
    expect(value).toMatchObject({ status: "cancelled" });
  });

  test("a usage error, which writes nothing to stdout", async () => {
    expect(await run(newPlace(), ["-p", "--json", "hi", "-m", "nope"])).toMatchObject({ code: 2, out: "" });
  });
});
