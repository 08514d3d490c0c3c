/** Histories through pipes, what `--json` prints, flags that commands share, and suggestions for mistyped names. */

import { expect, test } from "vitest";

import { addAllCommands, createProgram } from "../../src/interface/cli/program.ts";
import { systemTerminal } from "../../src/interface/cli/terminal.ts";
import { emulatorOf, expectProblem, newPlace, onlyLog, type Place, run, serverOf } from "./harness.ts";

const EMULATED = { THROUGHLINE_MODEL: "emulator/emu-reasoner" };
const BROKEN = JSON.stringify([
  { role: "user", content: "hi" },
  { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
]);

async function withSession(title = "Fix the build"): Promise<Place> {
  const place = newPlace();
  expect(await run(place, ["-p", title], { env: EMULATED })).toMatchObject({ code: 0 });
  return place;
}

test.concurrent.for([["-"], []] as const)("check %j reads standard input", async (args) => {
  const ran = await run(newPlace(), ["check", ...args], { input: BROKEN });
  expect(ran).toMatchObject({ code: 5, err: "" });
  expect(ran.out).toMatch(/R06[^]*standard input: responses, 2 items: 1 problem\n$/);
});

test("check reads an exported session and a plain log from a pipe", async () => {
  const place = await withSession();
  const { id } = await onlyLog(place);
  const exported = await run(place, ["sessions", "export", id, "-o", "-"]);
  expect(exported).toMatchObject({ code: 0, err: "" });
  for (const input of [exported.out, exported.out.slice(0, exported.out.lastIndexOf("\n{") + 1)]) {
    const ran = await run(place, ["check", "-"], { input });
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toMatch(/standard input: \d+ events, 1 request and the next one: no problems\n$/);
  }
});

test.concurrent.for([
  ["repair -", ["repair", "-"]],
  ["repair < file", ["repair"]],
  ["repair - -o -", ["repair", "-", "-o", "-"]],
] as const)("%s writes the repaired copy to standard output, which check accepts", async ([, args]) => {
  const place = newPlace();
  const repaired = await run(place, [...args], { input: BROKEN });
  expect(repaired.code).toBe(0);
  expect(repaired.err).toContain("1 change, written to standard output");
  expect(await run(place, ["check", "-"], { input: repaired.out })).toMatchObject({ code: 0 });
});

test("repair and export share -o, --force and --no-reasoning", async () => {
  const place = newPlace();
  place.write("out.json", "mine");
  const args = ["repair", "-", "-o", "out.json", "--no-reasoning"];
  expectProblem(await run(place, args, { input: BROKEN }), 2, "file_exists");
  expect(place.read("out.json")).toBe("mine");
  expect(await run(place, [...args, "--force"], { input: BROKEN })).toMatchObject({ code: 0 });
  expect(place.read("out.json")).toContain("call_1");
});

test("a Throughline log on standard input is not repaired there", async () => {
  const place = await withSession();
  const { out } = await run(place, ["sessions", "export", "--last"]);
  expectProblem(await run(place, ["repair", "-"], { input: out }), 2, "usage");
});

test.concurrent.for([
  [["check", "-"], "input_empty"],
  [["check"], "usage"],
  [["repair"], "usage"],
] as const)("%j without input says so", async ([args, code]) => {
  expectProblem(await run(newPlace(), [...args]), 2, code);
});

test("the help of every --json says whether it prints lines or one value", async () => {
  const terminal = systemTerminal();
  const program = createProgram(terminal, () => undefined);
  await addAllCommands(program, terminal, () => undefined);
  const all = [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)];
  const said = all.flatMap((command) =>
    command.options.filter(({ long }) => long === "--json").map((option) => option.description),
  );
  expect(said.length).toBeGreaterThan(10);
  for (const text of said) expect(text).toMatch(/one JSON (?:object|array|value)|JSON lines/);
});

test.concurrent.for([
  ["an effort", ["-p", "--effort", "hihg", "hi"], "effort_unknown", '"high"'],
  ["an effort behind a model", ["-p", "-m", "openai/gpt-5.6:hihg", "hi"], "effort_unknown", '"high"'],
  ["a provider", ["-p", "-m", "opnai/gpt-5.6", "hi"], "model_invalid", '"openai/gpt-5.6"'],
  ["a model without its provider", ["-p", "-m", "gpt-5.6", "hi"], "model_invalid", '"openai/gpt-5.6"'],
  ["a provider of models", ["models", "antropic"], "model_invalid", '"anthropic"'],
  ["a session's title", ["-p", "-r", "Fix the biuld", "hi"], "session_not_found", '"Fix the build"'],
  ["a flag", ["-p", "--modle", "x", "hi"], "usage", "--model"],
  ["a command", ["sesions", "list"], "command_unknown", "sessions"],
] as const)("%s that is mistyped gets a suggestion", async ([, args, code, meant]) => {
  const place = await withSession();
  const ran = await run(place, [...args], { env: { ...EMULATED, OPENAI_API_KEY: "sk-none" } });
  expectProblem(ran, 2, code);
  expect(ran.err).toContain(`did you mean ${meant}?`);
});

test("a model that the provider does not have gets a suggestion", async () => {
  const place = newPlace();
  const url = await serverOf((_request, response) => {
    response.writeHead(404, { "content-type": "application/json" });
    response.end('{"error":{"message":"The model does not exist","code":"model_not_found"}}');
  });
  const { env } = await emulatorOf();
  const ran = await run(place, ["-p", "-m", "openai/gtp-5.6", "hi"], {
    env: { ...env, OPENAI_BASE_URL: url },
  });
  expect(ran.code).toBe(1);
  expect(ran.err).toMatch(/\[model_not_found\]\nDid you mean openai\/gpt-5\.6\?\n$/);
});
