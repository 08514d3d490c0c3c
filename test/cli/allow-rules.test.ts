/** `--allow` and the setting `allow`: what they allow, what they refuse, and that no project can set them. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { emulatorOf, eventsOf, expectProblem, newPlace, onlyLog, type Place, run } from "./harness.ts";

const steps = (...commands: readonly string[]): readonly object[] => [
  {
    output: commands.map((command) => ({ function_call: { name: "run_command", arguments: { command } } })),
  },
  { output: [{ message: "Done." }] },
];

async function results(place: Place): Promise<readonly unknown[]> {
  const { events } = await onlyLog(place);
  const rules = new Map(eventsOf(events, "permission_decision").map(({ callId, rule }) => [callId, rule]));
  const status = new Map(eventsOf(events, "tool_result").map((one) => [one.callId, one.status]));
  return eventsOf(events, "tool_call").map(({ callId }) => [status.get(callId), rules.get(callId)]);
}

function settings(place: Place, own: object, ofProject?: object): void {
  mkdirSync(place.home, { recursive: true });
  writeFileSync(join(place.home, "config.json"), JSON.stringify(own));
  if (ofProject === undefined) return;
  mkdirSync(join(place.work, ".throughline"), { recursive: true });
  writeFileSync(join(place.work, ".throughline/config.json"), JSON.stringify(ofProject));
}

describe("--allow", () => {
  test("allows what it covers where nobody can be asked, and nothing else", async () => {
    const place = newPlace();
    const { env } = await emulatorOf({ steps: steps("echo one", "echo two > f", "date") });
    const ran = await run(
      place,
      ["-p", "--allow", "run_command:echo *", "--allow", "write_file:src/*", "go"],
      {
        env,
      },
    );
    expect(ran.out).toBe("Done.\n");
    expect(await results(place)).toEqual([
      ["ok", "run_command:echo *"],
      ["denied", undefined],
      ["denied", undefined],
    ]);
    const { id } = await onlyLog(place);
    const shown = await run(place, ["inspect", id]);
    expect(shown.out).toMatch(/run_command · ok · \d+ ms · allowed by run_command:echo \*/);
  });

  test.for([
    ["run_comand:git *", 'did you mean "run_command"?'],
    ["run_command:git * && x", "covers one simple command"],
    ["write_file:../x", "relative to the working directory"],
    ["mcp__docs__find:*", "a tool of an MCP server takes no pattern; use mcp__docs__find"],
    ["", "use TOOL or TOOL:PATTERN"],
  ] as const)("refuses %j before anything runs", async ([rule, why]) => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const ran = await run(place, ["-p", "--allow", rule, "hi"], { env });
    expectProblem(ran, 2, "allow_rule_invalid");
    expect(ran.err).toContain(why);
  });

  test.for(["read-only", "deny"])("never widens %s, and says so", async (mode) => {
    const place = newPlace();
    const { env } = await emulatorOf({ steps: steps("echo one") });
    const ran = await run(place, ["-p", "--permissions", mode, "--allow", "run_command", "go"], { env });
    expect(ran.err).toContain(`--allow has no effect: the permissions are ${mode}`);
    expect(await results(place)).toEqual([["denied", undefined]]);
  });
});

describe("the setting allow", () => {
  test("allows what it covers; a rule for a tool that this run lacks is left out", async () => {
    const place = newPlace();
    settings(place, { allow: ["run_command:echo *", "deploy"] });
    const { env } = await emulatorOf({ steps: steps("echo one") });
    const ran = await run(place, ["-p", "go"], { env });
    expect(ran.err).not.toContain("deploy");
    expect(await results(place)).toEqual([["ok", "run_command:echo *"]]);
  });

  test("can be set with config set and from the environment", async () => {
    const place = newPlace();
    expect((await run(place, ["config", "set", "allow", "run_command:git log --format=a,b *"])).code).toBe(0);
    const { out } = await run(place, ["config", "get", "allow"]);
    expect(JSON.parse(out)).toEqual(["run_command:git log --format=a,b *"]);
    const { env } = await emulatorOf({ steps: steps("echo one") });
    await run(place, ["-p", "go"], { env: { ...env, THROUGHLINE_ALLOW: '["run_command:echo *"]' } });
    expect(await results(place)).toEqual([["ok", "run_command:echo *"]]);
  });

  test("of a project is ignored, even if the project is trusted; run, config and doctor say so", async () => {
    const place = newPlace();
    settings(place, {}, { allow: ["run_command"], maxSteps: 60 });
    const { env } = await emulatorOf({ steps: steps("echo one") });
    const ran = await run(place, ["-p", "--trust", "go"], { env });
    const told = "sets allow, which is ignored: only your own settings can set it";
    expect(ran.err).toContain(told);
    expect(await results(place)).toEqual([["denied", undefined]]);
    expect((await run(place, ["config"])).err).toContain(told);
    expect((await run(place, ["doctor", "--json"], { env })).out).toContain(told);
    expectProblem(await run(place, ["config", "set", "allow", "run_command", "--project"]), 2, "usage");
  });
});
