/** Flags and arguments that cannot work: exit 2, one line with a code, nothing written. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  emulatorOf,
  expectNoTrace,
  expectProblem,
  logsOf,
  newPlace,
  run,
  toolsFile,
  treeOf,
} from "./harness.ts";

describe("a usage error says what is wrong, exits with 2 and writes nothing", () => {
  test.concurrent.for([
    [["--nope"], "usage", "--nope"],
    [["run", "--nope"], "usage", "--nope"],
    [["emulator", "--nope"], "usage", "--nope"],
    [["emulator", "surplus"], "usage", "too many arguments: throughline emulator takes none"],
    [
      ["completion", "tcsh"],
      "usage",
      'unknown shell "tcsh"; use one of bash, zsh, fish (see throughline completion --help)',
    ],
    [["completion"], "usage", "missing argument; usage: throughline completion <shell>"],
    [
      ["sessions", "export", "--last", "--format", "pdf"],
      "usage",
      "--format pdf: use one of jsonl, markdown, html",
    ],
    [
      ["inspect", "--last", "--format", "xml"],
      "usage",
      "--format xml: use one of text, json, yaml (see throughline inspect --help)",
    ],
    [["sessions", "nope"], "usage", "unknown command nope; throughline sessions has list, show"],
    [["sessions", "exprot"], "usage", 'copy; did you mean "export"? (see throughline sessions --help)'],
    [["sessions", "export", "--last", "--format", "htm"], "usage", 'html; did you mean "html"?'],
    [["models", "nope"], "model_invalid", 'unknown provider "nope"; use one of emulator, openai'],
    [["check", "--last", "--format", "nope"], "format_unknown", 'unknown format "nope"'],
    [["check"], "usage", "give a session or a file, or use --last"],
    [["repair"], "usage", "give a session or a file, or use --last"],
    [["check", "nowhere.json"], "file_unreadable", "cannot read nowhere.json: no such file"],
    [
      ["-p", "hi", "--output-schema", "nowhere"],
      "schema_file_invalid",
      "cannot read this file: no such file",
    ],
    [["--jsn", "hi"], "usage", "unknown flag --jsn; did you mean --json?"],
    [["sesions", "list"], "command_unknown", "did you mean sessions?"],
    [["inspct", "--last"], "command_unknown", "did you mean inspect?"],
    [
      ["exprot"],
      "command_unknown",
      'did you mean sessions export? To send it as a prompt: throughline -p "exprot"',
    ],
    [["help", "sesions"], "command_unknown", "did you mean help sessions?"],
    [["-m", "emulator/emu-reasoner", "emulater"], "command_unknown", "did you mean emulator?"],
    [["-p", "hi", "-m"], "usage", "needs a value"],
    [["-p", "hi", "-m", "gpt-5"], "model_invalid", "provider/model"],
    [["-p", "hi", "-m", "nobody/gpt-5"], "model_invalid", "emulator, openai"],
    [["-p", "hi", "-m", "openai/"], "model_invalid", "provider/model"],
    [["-p", "hi", "-m", ""], "model_invalid", "provider/model"],
    [["-p", "hi", "-m", "toString/x"], "model_invalid", "provider/model"],
    [["-p", "hi", "--effort", "enormous"], "effort_unknown", "enormous"],
    [["-p", "hi", "--permissions", "yolo"], "permissions_invalid", "deny, read-only, ask, auto"],
    [["-p", "hi", "--max-steps", "0"], "number_invalid", "--max-steps 0"],
    [["-p", "hi", "--max-steps", "-1"], "number_invalid", "--max-steps -1"],
    [["-p", "hi", "--max-steps", "1.5"], "number_invalid", "--max-steps 1.5"],
    [["-p", "hi", "--max-steps", "many"], "number_invalid", "--max-steps many"],
    [["-p", "hi", "--max-steps", ""], "number_invalid", "--max-steps"],
    [["-p", "hi", "--max-steps", "99999999999999999999"], "number_invalid", "--max-steps 9"],
    [["-p", "hi", "-C", "/nowhere/at/all"], "directory_not_found", "/nowhere/at/all"],
    [["-p", "hi", "-C", process.execPath], "directory_not_found", process.execPath],
    [["-p", "hi", "--allow-tools", "read_file,fly"], "tool_unknown", "unknown tool fly"],
    [["-p", "hi", "--tools", "missing.mjs"], "tools_file_invalid", "missing.mjs"],
    [["-p", "hi", "-r", "nope"], "session_not_found", '"nope"'],
    [["-p", "hi", "-r", ""], "session_not_found", "no session"],
    [["-p", "hi", "-r", "../../etc/passwd"], "session_not_found", "no session"],
    [["-p", "hi", "-c"], "session_not_found", "omit -c to start one"],
    [["-p", "hi", "-c", "-r", "x"], "usage", "--continue and --resume cannot be used together"],
    [["-p"], "no_prompt", "pipe it in"],
    [["-p", "-"], "no_prompt", "pipe it in"],
    [["-p", "   "], "no_prompt", "pipe it in"],
    [["run"], "no_prompt", "pipe it in"],
    [[], "no_prompt", "pipe it in"],
  ] as const)("%j", async ([args, code, part]) => {
    const place = newPlace();
    const ran = await run(place, args);
    expectProblem(ran, 2, code);
    expect(ran.err).toContain(part);
    expect(treeOf(place.home)).toEqual([]);
  });

  test.concurrent.for([
    [{ OPENAI_BASE_URL: "not a url, hunter2" }, "base_url_invalid", "(OPENAI_BASE_URL) is not an http"],
    [{ OPENAI_BASE_URL: "ftp://example.com/v1" }, "base_url_invalid", "(OPENAI_BASE_URL) is not an http"],
    [{ OPENAI_BASE_URL: "/v1" }, "base_url_invalid", "(OPENAI_BASE_URL) is not an http"],
    [{ OPENAI_BASE_URL: "http://me:hunter2@127.0.0.1/v1" }, "base_url_invalid", "user name or password"],
    [{ OPENAI_BASE_URL: "http://127.0.0.1/v1?key=hunter2" }, "base_url_invalid", "OPENAI_API_KEY or apiKey"],
    [{ OPENAI_BASE_URL: "http://127.0.0.1/v1#hunter2" }, "base_url_invalid", "a fragment"],
    [{ THROUGHLINE_MODEL: "gpt" }, "model_invalid", '"gpt"'],
  ] as const)("environment %j", async ([env, code, part]) => {
    const place = newPlace();
    const ran = await run(place, ["-p", "hi"], { env: { OPENAI_API_KEY: "sk-some-key", ...env } });
    expectProblem(ran, 2, code);
    expect(ran.err).toContain(part);
    expect(ran.err).not.toContain("hunter2");
    expect(treeOf(place.home)).toEqual([]);
  });

  test("THROUGHLINE_DEBUG adds the stack trace", async () => {
    const ran = await run(newPlace(), ["-p", "hi", "-m", "gpt"], { env: { THROUGHLINE_DEBUG: "1" } });
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toMatch(/\[model_invalid\]\n[^]*\n\s+at .+start-program[^\n]*\.js/);
  });
});

test.for(["check", "repair"])("%s names a file that it cannot parse", async (command) => {
  const place = newPlace();
  place.write("bad.json", '{"a":');
  const ran = await run(place, [command, "bad.json"]);
  expectProblem(ran, 2, "input_invalid");
  expect(ran.err).toContain("throughline: bad.json: the JSON is incomplete");
});

describe("a tools file", () => {
  test.concurrent.for([
    ["throws", 'throw new Error("no such luck\\nsecond line");', "no such luck"],
    ["throws something that is not an error", "throw null;", "cannot load it"],
    ["does not parse", "export const = 1;", "cannot load it"],
    ["imports a missing module", 'import "./absent.mjs";', "absent.mjs"],
    ["exports nothing", "export {};", "exports no tool"],
    [
      "exports something that is not a tool",
      'export const a = { name: "a" }; export const b = [1, null];',
      "exports no tool",
    ],
  ] as const)("that %s gives one line and exit 2", async ([, text, part]) => {
    const place = newPlace();
    place.write("bad.mjs", text);
    const ran = await run(place, ["-p", "hi", "--tools", "bad.mjs"]);
    expectProblem(ran, 2, "tools_file_invalid");
    expect(ran.err).toContain(part);
    expect(ran.err).toContain("bad.mjs");
    expect(treeOf(place.home)).toEqual([]);
  });

  test("with two tools of the same name is refused", async () => {
    const place = newPlace();
    const one = 'tool({ name: "same", description: "d", input: { type: "object" }, run: () => "x" })';
    const file = toolsFile(place, `export const list = [${one}, ${one}];`);
    expectProblem(await run(place, ["-p", "hi", "--tools", file]), 2, "tool_invalid");
    expect(treeOf(place.home)).toEqual([]);
  });

  test("that fails after it was loaded ends the command with one line, not with a stack trace", async () => {
    const place = newPlace();
    const file = toolsFile(
      place,
      `export const calm = tool({ name: "calm", description: "d", input: { type: "object" }, run: () => "x" });
       setTimeout(() => { throw new Error("much later"); }, 1);`,
    );
    const { env } = await emulatorOf({ faults: [{ type: "slow", delayMs: 60_000 }] });
    const ran = await run(place, ["-p", "hi", "--tools", file], { env });
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toMatch(/\nthroughline: much later \[internal\]\n$/);
    expect((await logsOf(place)).size).toBeLessThanOrEqual(1);
  });

  test("is found from the directory that -C names", async () => {
    const place = newPlace();
    mkdirSync(join(place.work, "inner"));
    place.write("inner/bad.mjs", "export {};");
    expectProblem(
      await run(place, ["-p", "hi", "-C", "inner", "--tools", "bad.mjs"]),
      2,
      "tools_file_invalid",
    );
  });
});

test("empty environment variables count as unset", async () => {
  const place = newPlace();
  const env = { THROUGHLINE_MODEL: "", OPENAI_API_KEY: "", OPENAI_BASE_URL: "", NO_COLOR: "" };
  const ran = await run(place, ["-p", "hello"], { env });
  expect(ran.code).toBe(0);
  expect(ran.err).toContain("emulator/emu-reasoner · session s_");
  const real = await run(newPlace(), ["-p", "hello", "-m", "openai/gpt-5.6"], { env });
  expect(real.code).toBe(2);
  expect(real.err).toContain("[api_key_missing]");
});

test("a command that only has commands shows its help and then names them", async () => {
  for (const [name, names] of [
    ["store", "status, verify, prune, restored"],
    ["tokens", "add, list, rm"],
  ] as const) {
    const ran = await run(newPlace(), [name]);
    expect([name, ran.code, ran.out]).toEqual([name, 2, ""]);
    expect(ran.err).toMatch(new RegExp(`^Usage: throughline ${name} `));
    expect(ran.err.trimEnd().split("\n").at(-1)).toBe(
      `throughline: throughline ${name} needs a command: ${names} (see throughline ${name} --help) [usage]`,
    );
    expectNoTrace(ran);
  }
});
