/** `throughline emulator`: what it prints, what it refuses, how it ends. */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { emulatorCommand } from "../../src/interface/cli/commands/emulator.ts";
import { emulatorFor } from "./emulator-client.ts";

interface Run {
  readonly out: string;
  readonly err: string;
}

/** Runs the command, talks to it, then "presses Ctrl-C". */
async function run(args: readonly string[], talk: (baseUrl: string) => Promise<unknown>): Promise<Run> {
  let out = "";
  let err = "";
  const command = emulatorCommand({
    out: (text) => (out += text),
    err: (text) => (err += text),
    stopped: async () => {
      await talk(out.trim());
    },
  }).exitOverride();
  await command.parseAsync([...args], { from: "user" });
  return { out, err };
}

const ask = (baseUrl: string, body: object): Promise<Response> =>
  fetch(`${baseUrl}/responses`, {
    method: "POST",
    headers: { authorization: "Bearer sk-a" },
    body: JSON.stringify({ model: "emu-reasoner", store: false, ...body }),
  });

test("prints the base URL alone on stdout, and how to use it on stderr", async () => {
  const statuses: number[] = [];
  const { out, err } = await run(["--port", "0", "--pace", "0"], async (baseUrl) => {
    statuses.push((await ask(baseUrl, { input: "hello" })).status);
    statuses.push((await ask(baseUrl, { input: "hello", temperature: 1 })).status);
  });
  expect(statuses).toEqual([200, 400]);
  expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\n$/);
  expect(err).toContain("export OPENAI_BASE_URL=http://127.0.0.1:");
  expect(err).toContain("POST /v1/responses 200 completed\n");
  expect(err).toContain("POST /v1/responses 400 refused S08: Unsupported parameter: 'temperature'");
});

test("scenario, faults, switches and recording work", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  const scenario = join(folder, "demo.yaml");
  const record = join(folder, "record.jsonl");
  writeFileSync(scenario, "steps: [{output: [{message: Scripted.}]}]");
  const texts: string[] = [];
  await run(
    [
      "--port",
      "0",
      "--scenario",
      scenario,
      "--record",
      record,
      "--fault",
      "429;slow=1",
      "--switch",
      "doneMarker=true",
    ],
    async (baseUrl) => {
      texts.push(await (await ask(baseUrl, { input: "a" })).text());
      texts.push(await (await ask(baseUrl, { input: "a", stream: true })).text());
    },
  );
  expect(texts[0]).toContain("rate_limit_exceeded");
  expect(texts[1]).toContain("Scripted.");
  expect(texts[1]).toContain("data: [DONE]");
  const lines = readFileSync(record, "utf8").trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([429, 200]);
});

const failing = async (...args: string[]): Promise<unknown> =>
  run(["--port", "0", ...args], () => Promise.resolve()).then(
    () => "it ran",
    (error: unknown) => error,
  );

describe("bad input is reported with a code", () => {
  test.each([
    [["--host", "0.0.0.0"], "host_not_loopback", /--expose/],
    [["--port", "many"], "usage", /--port takes a whole number/],
    [["--fault", "explode"], "fault_invalid", /use one of/],
    [["--switch", "phase"], "switch_invalid", /name=value/],
    [["--switch", "phase=maybe"], "switch_invalid", /true \| false/],
    [["--scenario", "/nowhere/demo.yaml"], "scenario_unreadable", /demo\.yaml/],
    [["--record", "/nowhere/record.jsonl"], "record_unwritable", /record\.jsonl/],
  ])("%j", async (args, code, message) => {
    expect(await failing(...args)).toMatchObject({ code, message: expect.stringMatching(message) as string });
  });

  test("a port in use", async () => {
    const taken = await emulatorFor();
    expect(await failing("--port", new URL(taken.url).port)).toMatchObject({ code: "port_in_use" });
  });

  test("strict and lenient together", async () => {
    expect(await failing("--strict", "--lenient")).toMatchObject({ code: "commander.conflictingOption" });
  });
});
