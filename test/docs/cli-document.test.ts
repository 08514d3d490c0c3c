import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Command } from "commander";
import { afterAll, expect, test } from "vitest";

import { ERROR_CODES } from "../../src/base/support/index.ts";
import { COMMAND_NAMES } from "../../src/interface/cli/command-table.ts";
import { EXIT } from "../../src/interface/cli/exit-codes.ts";
import { addAllCommands, createProgram } from "../../src/interface/cli/program.ts";
import { systemTerminal } from "../../src/interface/cli/terminal.ts";
import { CONFIG_NAMES, keyOf } from "../../src/interface/config/index.ts";
import { PROVIDERS } from "../../src/runtime/models/index.ts";
import { CLI } from "../support/built.ts";
import { quoted, read, root, rows, runNode, section } from "./documents.ts";

const folder = mkdtempSync(join(tmpdir(), "throughline-cli-document-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const document = read("docs/cli.md");
const terminal = systemTerminal();
const program = createProgram(terminal, () => undefined);
await addAllCommands(program, terminal, () => undefined);

function documentedFlags(heading: string): readonly string[] {
  const flags = rows(section(document, heading)).flatMap((cells) =>
    cells.slice(0, 2).flatMap((cell) => quoted(cell).filter((text) => text.startsWith("-"))),
  );
  return [...new Set(flags)].toSorted();
}

function flagsOf(command: Command): readonly string[] {
  const own = command.options.map(({ flags }) => flags);
  return [...new Set([...own, ...command.commands.flatMap(flagsOf)])].toSorted();
}

function subcommand(name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (found === undefined) throw new Error(`there is no command ${name}`);
  return found;
}

test("docs/cli.md lists exactly the flags of a run", () => {
  const documented = documentedFlags("Options of a run");
  expect(documented).toEqual([...program.options.map(({ flags }) => flags), "-h, --help"].toSorted());
  // `run` and `start` take the same flags, except for those that only make sense at the top level.
  const shared = documented.filter(
    (flag) => flag !== "-h, --help" && flag !== "-V, --version" && flag !== "-p, --print",
  );
  expect(flagsOf(subcommand("run"))).toEqual(shared);
  expect(flagsOf(subcommand("start"))).toEqual(shared);
});

test("docs/cli.md lists exactly the flags of every other command", () => {
  const others = program.commands.filter((command) => !["run", "start"].includes(command.name()));
  expect(others.length).toBeGreaterThan(0);
  for (const command of others) {
    const name = command.name();
    const text = section(document, `The ${name} command`);
    const ofARun = text.includes("Takes the flags of a run") ? documentedFlags("Options of a run") : [];
    const own = flagsOf(command).filter((flag) => !ofARun.includes(flag));
    expect([name, documentedFlags(`The ${name} command`)]).toEqual([name, own]);
    for (const inner of command.commands) expect(text).toContain(`| \`${inner.name()}`);
  }
});

test("docs/cli.md names every command", () => {
  const usage = /```\n(throughline \[options\][\s\S]*?)```/.exec(document)?.[1] ?? "";
  const named = [...usage.matchAll(/^throughline ([a-z]+)/gm)].map(([, name]) => name);
  expect(named).toEqual(program.commands.map((command) => command.name()));
});

test("the suggestions for a mistyped command are the commands of the tree", () => {
  const tree = program.commands.map((one) => [one.name(), one.commands.map((inner) => inner.name())]);
  expect(Object.entries(COMMAND_NAMES)).toEqual(tree);
});

test("docs/cli.md lists exactly the exit codes of the program, and so does its help", () => {
  const documented = rows(section(document, "Exit codes")).map(([code]) => Number(code));
  expect(documented).toEqual(Object.values(EXIT));
  let help = "";
  program.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const lines = /Exit codes: ([\s\S]*)/.exec(help)?.[1] ?? "";
  expect(lines.match(/\d+(?= )/g)?.map(Number)).toEqual(Object.values(EXIT));
});

test("docs/cli.md lists no error code that the program does not have", () => {
  const listed = quoted(section(document, "Error codes")).filter((text) => /^[a-z_]+$/.test(text));
  const commands = ["serve", "emulator", "eval"];
  const codes: readonly string[] = ERROR_CODES;
  expect(listed.length).toBeGreaterThan(50);
  expect(listed.filter((text) => !codes.includes(text) && !commands.includes(text))).toEqual([]);
});

test("docs/cli.md lists exactly the commands of the chat", () => {
  const source = readFileSync(join(root, "src/interface/tui/commands.ts"), "utf8");
  const built = [...source.matchAll(/name: "(\/[a-z]+)"/g)].map(([, name = ""]) => name);
  const documented = rows(section(document, "Chat")).flatMap(([command = ""]) =>
    quoted(command).map((text) => text.split(" ")[0] ?? ""),
  );
  expect(built.length).toBeGreaterThan(0);
  expect(documented.toSorted()).toEqual(built.toSorted());
});

test("docs/cli.md names every environment variable the command line and the models read", () => {
  const documented = new Set(
    rows(section(document, "Environment")).flatMap(([variable = ""]) => quoted(variable)),
  );
  const files = ["interface/cli", "interface/config", "runtime/models"].flatMap((place) =>
    readdirSync(join(root, "src", place), { recursive: true, encoding: "utf8" }).map(
      (name) => `src/${place}/${name}`,
    ),
  );
  const readInCode = files
    .filter((file) => /(?<!\.test)\.ts$/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(/env(?:ironment)?[[(]"([A-Z_]+)"[\])]/g)].map(([, name = ""]) => name),
    );
  // Two tables name variables as data.
  const inTables = [
    ...CONFIG_NAMES.map((name) => keyOf(name).variable),
    ...Object.values(PROVIDERS).flatMap(({ keyVariable, baseUrlVariable }) => [keyVariable, baseUrlVariable]),
  ].filter((name): name is string => name !== undefined);
  const standard = new Set(["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TERM"]);
  const all = new Set([...readInCode, ...inTables].filter((name) => !standard.has(name)));
  expect([...all].toSorted()).toEqual([...documented].toSorted());
});

function parse(line: string | undefined): Record<string, unknown> {
  return JSON.parse(line ?? "") as Record<string, unknown>;
}

test("the first and the last line of --json have exactly the documented fields", () => {
  const [first = [], last = []] = section(document, "The `--json` contract")
    .split("Last line:")
    .map((part) => rows(part).map(([field = ""]) => quoted(field)[0]));
  const optional = new Set(["reason", "error", "output", "instructions"]);
  const args = [CLI, "-p", "--json", "-m", "emulator/emu-reasoner"];

  const good = runNode([...args, "Hello"], folder);
  const lines = good.stdout.trim().split("\n");
  expect(good.status).toBe(EXIT.ok);
  expect(Object.keys(parse(lines[0]))).toEqual(first.filter((field) => !optional.has(field ?? "")));
  expect(Object.keys(parse(lines.at(-1)))).toEqual(last.filter((field) => !optional.has(field ?? "")));
  expect([parse(lines[0])["type"], parse(lines.at(-1))["type"]]).toEqual(["session", "result"]);

  // A turn that fails has an `error`, one that reaches a limit a `reason`.
  const nobody = { dialect: "openai-responses", baseUrl: "http://127.0.0.1:9/v1" };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ providers: { nobody } }));
  const failed = runNode([...args.slice(0, -1), "nobody/listens", "Hello"], folder);
  expect(failed.status).toBe(EXIT.turnFailed);
  const fields = Object.keys(parse(failed.stdout.trim().split("\n").at(-1)));
  expect(fields).toEqual(last.filter((field) => field !== "reason" && field !== "output"));
  expect(failed.stderr).toBe("");
});
