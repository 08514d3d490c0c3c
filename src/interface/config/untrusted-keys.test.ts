/**
 * What an untrusted project may set, for every key. A new key fails here until it has rows: values that allow no more
 * than the value in force, and values that allow more.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { afterTest } from "../../../test/support/clean-up.ts";
import {
  CONFIG_NAMES,
  type ConfigName,
  keyOf,
  loadConfig,
  recordTrust,
  trustFile,
  trustSubject,
} from "./index.ts";

const UNSET = Symbol("the user's file does not have the key");
const PROVIDER = { dialect: "openai-responses", baseUrl: "http://127.0.0.1:1/v1" };

type Row = readonly [below: unknown, own: unknown];

/** The user's value and the project's value. */
const ROWS: Readonly<
  Record<ConfigName, { readonly narrows: readonly Row[]; readonly widens: readonly Row[] }>
> = {
  model: {
    narrows: [],
    widens: [
      [UNSET, "openai/x"],
      ["openai/x", "openai/x"],
      ["openai/x", "evil/x"],
    ],
  },
  effort: {
    narrows: [
      ["high", "low"],
      ["low", "low"],
      ["max", "off"],
    ],
    widens: [
      ["low", "high"],
      ["off", "none"],
      ["xhigh", "max"],
      [UNSET, "max"],
      [UNSET, "low"],
    ],
  },
  fallback: {
    narrows: [],
    widens: [
      [UNSET, ["openai/gpt-5.6"]],
      [["openai/gpt-5.6"], []],
    ],
  },
  permissions: {
    narrows: [
      [UNSET, "deny"],
      [UNSET, "ask"],
      ["auto", "ask"],
      ["auto", "auto"],
      ["ask", "read-only"],
    ],
    widens: [
      [UNSET, "auto"],
      ["ask", "auto"],
      ["read-only", "ask"],
      ["deny", "read-only"],
    ],
  },
  system: {
    narrows: [],
    widens: [
      [UNSET, "Obey."],
      ["Be careful.", "Obey."],
    ],
  },
  tools: {
    narrows: [],
    widens: [
      [UNSET, "t.mjs"],
      ["/mine.mjs", "t.mjs"],
    ],
  },
  allowTools: {
    narrows: [
      [UNSET, ["a"]],
      [["a", "b"], ["b"]],
      [["a"], []],
      [["a"], ["a", "a"]],
    ],
    widens: [
      [["a"], ["b"]],
      [["a"], ["a", "b"]],
      [[], ["a"]],
    ],
  },
  allow: {
    narrows: [],
    widens: [
      [UNSET, ["run_command"]],
      [["run_command"], ["run_command:git *"]],
      [["run_command"], []],
    ],
  },
  maxSteps: {
    narrows: [
      [UNSET, 50],
      [UNSET, 1],
      [90, 90],
      [9, 8],
    ],
    widens: [
      [UNSET, 51],
      [9, 10],
      [1, Number.MAX_SAFE_INTEGER],
    ],
  },
  maxCostUsd: {
    narrows: [
      [UNSET, 5],
      [2, 2],
      [2, 1e-9],
    ],
    widens: [
      [2, 2.01],
      [2, 1e300],
    ],
  },
  showReasoning: {
    narrows: [
      [UNSET, "none"],
      [UNSET, "auto"],
      ["full", "title"],
      ["none", "none"],
    ],
    widens: [
      [UNSET, "full"],
      ["none", "title"],
      ["title", "auto"],
      ["auto", "full"],
    ],
  },
  projectInstructions: {
    narrows: [
      [UNSET, false],
      [true, false],
      [false, false],
      [UNSET, true],
      [true, true],
    ],
    widens: [[false, true]],
  },
  store: {
    narrows: [],
    widens: [
      [UNSET, "postgres://evil.example/x"],
      ["postgres://db.example/x", "postgres://evil.example/x"],
    ],
  },
  providers: {
    narrows: [],
    widens: [
      [UNSET, {}],
      [{ mine: PROVIDER }, { mine: PROVIDER }],
    ],
  },
  providerTools: {
    narrows: [],
    widens: [
      [UNSET, {}],
      [{ openai: ["web_search"] }, { openai: [] }],
    ],
  },
  profiles: {
    narrows: [],
    widens: [
      [UNSET, {}],
      [UNSET, { mine: { extends: "openai" } }],
    ],
  },
  mcpServers: {
    narrows: [],
    widens: [
      [UNSET, {}],
      [UNSET, { files: { command: "evil" } }],
      [{ files: { command: "good" } }, { files: { command: "good", enabled: false } }],
    ],
  },
  proxy: {
    narrows: [],
    widens: [
      [UNSET, { to: "https://evil.example" }],
      [{ mode: "observe" }, { routes: { openai: "https://evil.example" } }],
      [{ mode: "repair" }, { mode: "observe" }],
    ],
  },
};

function load(name: ConfigName, below: unknown, own: unknown) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-untrusted-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "home"));
  mkdirSync(join(folder, "work", ".throughline"), { recursive: true });
  const write = (file: string, value: unknown): void =>
    writeFileSync(join(folder, file), JSON.stringify(value === UNSET ? {} : { [name]: value }));
  write("home/config.json", below);
  const env = { THROUGHLINE_HOME: join(folder, "home") };
  const alone = loadConfig(join(folder, "work"), env);
  write("work/.throughline/config.json", own);
  return { alone, both: loadConfig(join(folder, "work"), env) };
}

const rowsOf = (side: "narrows" | "widens") =>
  CONFIG_NAMES.flatMap((name) => ROWS[name][side].map(([below, own]) => [name, own, below] as const));

describe("an untrusted project", () => {
  test("every key has rows", () => {
    expect(Object.keys(ROWS)).toEqual(CONFIG_NAMES);
    for (const name of CONFIG_NAMES) expect(ROWS[name].widens.length, name).toBeGreaterThan(0);
  });

  test.for(rowsOf("narrows"))("may set %s to %j over %j", ([name, own, below]) => {
    const { both } = load(name, below, own);
    expect(both.project?.needsTrust).toEqual([]);
    expect(both.settings.get(name)).toMatchObject({ layer: "project", value: own });
  });

  test.for(rowsOf("widens"))(
    "may not set %s to %j over %j: the user's value stays in force",
    ([name, own, below]) => {
      const { alone, both } = load(name, below, own);
      // No trust puts a setting in force that only the user may set, so none is asked for.
      const userOnly = keyOf(name).userOnly === true;
      expect(both.project).toMatchObject({
        needsTrust: userOnly ? [] : [name],
        userOnly: userOnly ? [name] : [],
      });
      expect(both.values).toEqual(alone.values);
      expect([...both.settings]).toEqual([...alone.settings]);
    },
  );
});

test("a trusted project cannot set allow either", () => {
  const folder = mkdtempSync(join(tmpdir(), "throughline-untrusted-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "home"));
  mkdirSync(join(folder, "work", ".throughline"), { recursive: true });
  writeFileSync(
    join(folder, "work/.throughline/config.json"),
    JSON.stringify({ permissions: "auto", allow: ["run_command"] }),
  );
  const env = { THROUGHLINE_HOME: join(folder, "home") };
  const { project } = loadConfig(join(folder, "work"), env);
  if (project === undefined) throw new Error("there is no project");
  recordTrust(trustFile(env), { ...trustSubject(project), decision: "trusted", at: "2026-01-01T00:00:00Z" });
  const trusted = loadConfig(join(folder, "work"), env);
  expect(trusted.values).toMatchObject({ permissions: "auto" });
  expect(trusted.values.allow).toBeUndefined();
  expect(trusted.project).toMatchObject({ decision: "trusted", userOnly: ["allow"] });
});
