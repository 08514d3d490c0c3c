/** Wrong surroundings, settings and flags are refused with what to change, and nothing is written. */

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { emulatorOf, expectProblem, newPlace, run } from "./harness.ts";

const NO_HOME = { THROUGHLINE_HOME: "", XDG_DATA_HOME: "", XDG_CONFIG_HOME: "" };

test.for([
  ["an empty HOME", { ...NO_HOME, HOME: "" }, "HOME is empty"],
  ["a relative HOME", { ...NO_HOME, HOME: "here" }, "HOME is a relative path"],
  ["relative XDG folders and no HOME", { ...NO_HOME, HOME: "", XDG_DATA_HOME: "x" }, "HOME is empty"],
  ["a relative THROUGHLINE_HOME", { THROUGHLINE_HOME: "here" }, "THROUGHLINE_HOME is a relative path"],
] as const)("%s is refused by every command, and nothing is written", async ([, env, why]) => {
  const place = newPlace();
  for (const args of [["-p", "hello"], ["sessions"], ["config", "set", "effort", "low"], ["run", "hello"]]) {
    const ran = await run(place, args, { env });
    expect([args, ran.code, ran.err]).toEqual([args, 2, expect.stringContaining(why)]);
    expect(ran.err).toContain("[home_invalid]");
    expect(ran.err.replaceAll(/\s+/g, " ")).toContain("to an absolute path");
  }
  expect(readdirSync(place.work)).toEqual([]);
});

test("without a usable home, check reads a file, and doctor says what is wrong and ends", async () => {
  const place = newPlace();
  writeFileSync(join(place.work, "chat.json"), '[{"role":"user","content":"hi"}]');
  const checked = await run(place, ["check", "chat.json"], { env: { ...NO_HOME, HOME: "" } });
  expect([checked.code, checked.err]).toEqual([0, ""]);
  const doctor = await run(place, ["doctor", "--offline", "--json"], { env: { THROUGHLINE_HOME: "here" } });
  expect([doctor.code, doctor.err]).toEqual([1, ""]);
  expect(JSON.parse(doctor.out)).toMatchObject({
    ok: false,
    findings: expect.arrayContaining([
      expect.objectContaining({ status: "bad", fix: expect.stringContaining("home_invalid") as unknown }),
    ]) as unknown,
  });
});

test("config set refuses a model, a provider and a profile that do not exist", async () => {
  const place = newPlace();
  for (const [key, value, code] of [
    ["model", "nope", "model_invalid"],
    ["model", "opnai/gpt-5.6", "model_invalid"],
    ["fallback", "nope/x", "model_invalid"],
    [
      "providers.mine",
      '{"dialect":"openai-chat","baseUrl":"http://127.0.0.1:1/v1","profile":"nope"}',
      "profile_unknown",
    ],
    ["effort", "hgih", "config_value_invalid"],
    ["hosted", "{}", "config_key_unknown"],
    ["modle", "x", "config_key_unknown"],
  ] as const) {
    expectProblem(await run(place, ["config", "set", key, value]), 2, code);
  }
  const shown = await run(place, ["config", "--json"]);
  expect(shown.out).not.toContain("nope");
});

test("a mistyped setting gets a suggestion, and a renamed one its new name", async () => {
  const place = newPlace();
  const said = async (args: readonly string[]): Promise<string> =>
    (await run(place, args)).err.replaceAll(/\s+/g, " ");
  expect(await said(["config", "set", "modle", "x"])).toContain('did you mean "model"?');
  expect(await said(["config", "set", "hosted", "{}"])).toContain('it became "providerTools"');
  expect(await said(["config", "set", "effort", "hgih"])).toContain('did you mean "high"?');
});

test("an error about a setting names the file or the variable it comes from, and doctor reports it", async () => {
  const place = newPlace();
  await run(place, ["config", "set", "effort", "low"]);
  const file = join(place.home, "config.json");
  writeFileSync(file, '{"model":"nope"}');
  const ran = await run(place, ["-p", "hello"]);
  expectProblem(ran, 2, "model_invalid");
  expect(ran.err).toContain(`${file}: model:`);
  const doctor = await run(place, ["doctor"]);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toContain("nope");
  const variable = await run(place, ["-p", "hello"], { env: { THROUGHLINE_MODEL: "wrong" } });
  expectProblem(variable, 2, "model_invalid");
  expect(variable.err).toContain("THROUGHLINE_MODEL: model:");
});

test.for(["--strict", "--fast"])("%s without --playback is a usage error", async (flag) => {
  const ran = await run(newPlace(), ["-p", flag, "hello"]);
  expectProblem(ran, 2, "usage");
  expect(ran.err).toContain(`${flag} works only with --playback`);
});

test("a defect has an exit code of its own", async () => {
  const broken = "data:text/javascript,process.cwd=()=>{throw new TypeError('boom')}";
  const ran = await run(newPlace(), ["config"], { env: { NODE_OPTIONS: `--import "${broken}"` } });
  expect(ran).toMatchObject({ code: 70, out: "", err: "throughline: boom [internal]\n" });
});

test("an answer that the provider did not finish is not called a limit", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({ steps: [{ output: [] }, { output: [] }] });
  const ran = await run(place, ["-p", "-m", "openai/emu-reasoner", "hello"], { env });
  expect(ran.code).toBe(4);
  expect(ran.err).toContain("throughline: the turn ended without a complete answer: empty_response\n");
});

test("a mistyped --permissions gets a suggestion", async () => {
  const ran = await run(newPlace(), ["--permissions", "readonly", "-p", "hi"]);
  expectProblem(ran, 2, "permissions_invalid");
  expect(ran.err).toContain('did you mean "read-only"?');
});
