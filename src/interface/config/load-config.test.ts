import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import {
  changeConfigFile,
  configSchema,
  loadConfig,
  projectConfigFile,
  readConfigFile,
  recordTrust,
  trustFile,
  trustSubject,
  userConfigFile,
} from "./index.ts";

let folder = "";
let cwd = "";
const env = (more: Readonly<Record<string, string>> = {}) => ({
  THROUGHLINE_HOME: join(folder, "home"),
  ...more,
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-config-"));
  cwd = join(folder, "project", "deep");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(join(folder, "project", ".git"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, content: unknown): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}
const user = (content: unknown) => write(userConfigFile(env()), content);
const project = (content: unknown) => write(join(folder, "project", ".throughline", "config.json"), content);
const trust = () => {
  const { project: state } = loadConfig(cwd, env());
  if (state === undefined) throw new Error("there is no project file");
  recordTrust(trustFile(env()), { ...trustSubject(state), decision: "trusted", at: "now" });
};

const PROVIDER = { dialect: "openai-responses", baseUrl: "http://127.0.0.1:1/v1" };

describe("layers", () => {
  test("defaults < user < project < environment, and each value says where it comes from", () => {
    const userFile = user({ effort: "low", maxSteps: 9, system: "user" });
    const projectFile = project({ maxSteps: 8, system: "project" });
    trust();
    const { values, settings } = loadConfig(cwd, env({ THROUGHLINE_SYSTEM: "environment" }));
    expect(values).toEqual({
      permissions: "ask",
      maxSteps: 8,
      showReasoning: "auto",
      projectInstructions: true,
      effort: "low",
      system: "environment",
    });
    expect([...settings.values()].map(({ name, layer, location }) => [name, layer, location])).toEqual([
      ["permissions", "usual", ""],
      ["maxSteps", "project", projectFile],
      ["showReasoning", "usual", ""],
      ["projectInstructions", "usual", ""],
      ["effort", "user", userFile],
      ["system", "environment", "THROUGHLINE_SYSTEM"],
    ]);
  });

  test("provider tools are types or objects, and merge by provider", () => {
    const search = { type: "web_search_20260318", max_uses: 3 };
    user({ providerTools: { openai: ["web_search"], anthropic: [search] } });
    project({ providerTools: { openai: ["image_generation"] } });
    trust();
    expect(loadConfig(cwd, env()).values.providerTools).toEqual({
      openai: ["image_generation"],
      anthropic: [search],
    });
  });

  test("providers merge by name", () => {
    user({ providers: { one: PROVIDER, two: PROVIDER } });
    project({ providers: { two: { ...PROVIDER, baseUrl: "https://example.com/v1" } } });
    trust();
    expect(loadConfig(cwd, env()).values.providers).toEqual({
      one: PROVIDER,
      two: { ...PROVIDER, baseUrl: "https://example.com/v1" },
    });
  });

  test("reads the nearest project file, up to the root of the repository", () => {
    write(join(folder, ".throughline", "config.json"), { maxSteps: 5 });
    expect(loadConfig(cwd, env()).project).toBeUndefined();
    project({ maxSteps: 7 });
    expect(loadConfig(cwd, env()).values.maxSteps).toBe(7);
    write(join(cwd, ".throughline", "config.json"), { maxSteps: 6 });
    expect(loadConfig(cwd, env()).values.maxSteps).toBe(6);
    rmSync(join(folder, "project", ".git"), { recursive: true });
    rmSync(join(cwd, ".throughline"), { recursive: true });
    expect(loadConfig(cwd, env()).values.maxSteps).toBe(50);
  });

  test("a path in a file is relative to that file", () => {
    user({ tools: "tools.mjs" });
    expect(loadConfig(cwd, env()).values.tools).toBe(resolve(folder, "home", "tools.mjs"));
  });

  test.for([
    ["THROUGHLINE_MAX_STEPS", "7", { maxSteps: 7 }],
    ["THROUGHLINE_MAX_COST_USD", "0.5", { maxCostUsd: 0.5 }],
    ["THROUGHLINE_ALLOW_TOOLS", "a, b,", { allowTools: ["a", "b"] }],
    ["THROUGHLINE_PROJECT_INSTRUCTIONS", "off", { projectInstructions: false }],
    ["THROUGHLINE_PERMISSIONS", "auto", { permissions: "auto" }],
    ["THROUGHLINE_EFFORT", "", {}],
  ] as const)("%s=%s", ([name, text, expected]) => {
    expect(loadConfig(cwd, env({ [name]: text })).values).toMatchObject(expected);
  });
});

describe("bad settings are coded errors that name the file and the key", () => {
  test.for([
    ["{", "config_invalid", ""],
    ["[]", "config_invalid", ""],
    [{ modle: "x" }, "config_key_unknown", "modle"],
    [{ effort: "enormous" }, "config_value_invalid", ": effort:"],
    [{ maxSteps: "5" }, "config_value_invalid", ": maxSteps:"],
    [{ maxSteps: 0 }, "config_value_invalid", ": maxSteps:"],
    [{ maxCostUsd: -1 }, "config_value_invalid", ": maxCostUsd:"],
    [{ projectInstructions: "yes" }, "config_value_invalid", ": projectInstructions:"],
    [{ allowTools: "read_file" }, "config_value_invalid", ": allowTools:"],
    [{ model: "" }, "config_value_invalid", ": model:"],
    [{ providerTools: ["web_search"] }, "config_value_invalid", ": providerTools:"],
    [{ providerTools: { openai: "web_search" } }, "config_value_invalid", "providerTools.openai:"],
    [
      { providerTools: { openai: [{ name: "web_search" }] } },
      "config_value_invalid",
      "providerTools.openai:",
    ],
    [{ providers: [] }, "config_value_invalid", ": providers:"],
    [{ providers: { Mine: PROVIDER } }, "config_value_invalid", "providers.Mine:"],
    [{ providers: { __proto__x: PROVIDER } }, "config_value_invalid", "providers.__proto__x:"],
    [
      { providers: { mine: { ...PROVIDER, dialect: "soap" } } },
      "config_value_invalid",
      "providers.mine.dialect:",
    ],
    [
      { providers: { mine: { ...PROVIDER, baseUrl: "ftp://x" } } },
      "config_value_invalid",
      "providers.mine.baseUrl:",
    ],
    [
      { providers: { mine: { ...PROVIDER, baseUrl: "http://me:hunter2@x/v1" } } },
      "config_value_invalid",
      "providers.mine.baseUrl:",
    ],
    [
      { providers: { mine: { ...PROVIDER, baseUrl: "http://x/v1?key=hunter2" } } },
      "config_value_invalid",
      "providers.mine.baseUrl:",
    ],
    [
      { providers: { mine: { ...PROVIDER, keyVariable: "sk-hunter2" } } },
      "config_value_invalid",
      "providers.mine.keyVariable:",
    ],
    [
      { providers: { mine: { ...PROVIDER, headers: { Authorization: "Bearer hunter2" } } } },
      "config_value_invalid",
      "providers.mine.headers.Authorization:",
    ],
    [
      { providers: { mine: { ...PROVIDER, headers: { "x-a": "hunter2\r\nx: y" } } } },
      "config_value_invalid",
      "providers.mine.headers.x-a:",
    ],
    [{ providers: { mine: { ...PROVIDER, key: "hunter2" } } }, "config_value_invalid", "providers.mine.key:"],
    [
      { providers: { mine: { ...PROVIDER, prices: { m: { input: 1 } } } } },
      "config_value_invalid",
      "providers.mine.prices.m.output:",
    ],
    [{ profiles: { mine: {} } }, "config_value_invalid", "profiles.mine.extends:"],
  ] as const)("%j", ([content, code, part]) => {
    const file = user(content);
    const told = thrown(() => loadConfig(cwd, env()));
    expect(told.code).toBe(code);
    expect(told.message).toContain(file);
    expect(told.message).toContain(part);
    expect(told.message).not.toContain("hunter2");
  });

  test("for the environment they name the variable and the key", () => {
    const told = thrown(() => loadConfig(cwd, env({ THROUGHLINE_MAX_STEPS: "many" })));
    expect(told.code).toBe("config_value_invalid");
    expect(told.message).toBe("THROUGHLINE_MAX_STEPS: maxSteps: use a whole number, 1 or more");
  });

  test("a folder, a pipe or nothing instead of the file", () => {
    mkdirSync(userConfigFile(env()), { recursive: true });
    expect(thrown(() => loadConfig(cwd, env())).code).toBe("config_unreadable");
  });
});

function thrown(action: () => unknown): { readonly code: string; readonly message: string } {
  try {
    action();
  } catch (error) {
    return error as { readonly code: string; readonly message: string };
  }
  throw new Error("nothing was thrown");
}

describe("settings of a project", () => {
  test.for([
    [{ permissions: "deny" }, {}, []],
    [{ permissions: "ask" }, {}, []],
    [{ permissions: "auto" }, {}, ["permissions"]],
    [{ permissions: "ask" }, { permissions: "read-only" }, ["permissions"]],
    [{ permissions: "auto" }, { permissions: "auto" }, []],
    [{ maxSteps: 50 }, {}, []],
    [{ maxSteps: 51 }, {}, ["maxSteps"]],
    [{ maxCostUsd: 3 }, {}, []],
    [{ maxCostUsd: 3 }, { maxCostUsd: 2 }, ["maxCostUsd"]],
    [{ allowTools: ["a"] }, {}, []],
    [{ allowTools: ["a"] }, { allowTools: ["a", "b"] }, []],
    [{ allowTools: ["c"] }, { allowTools: ["a", "b"] }, ["allowTools"]],
    [{ model: "openai/x" }, {}, ["model"]],
    [{ tools: "x.mjs" }, {}, ["tools"]],
    [{ providers: {} }, {}, ["providers"]],
    [{ providerTools: { openai: ["web_search"] } }, {}, ["providerTools"]],
    [{ profiles: {} }, {}, ["profiles"]],
    [{ showReasoning: "none", projectInstructions: false }, {}, []],
  ] as const)("%j over %j needs trust for %j", ([own, below, expected]) => {
    user(below);
    project(own);
    const { project: state, settings } = loadConfig(cwd, env());
    expect(state?.needsTrust).toEqual(expected);
    for (const name of Object.keys(own)) {
      const layer = settings.get(name as never)?.layer;
      expect(layer === "project").toBe(!expected.some((one) => one === name));
    }
  });

  test("trust covers these bytes at this path until one byte changes", () => {
    const file = project({ permissions: "auto" });
    expect(loadConfig(cwd, env()).values.permissions).toBe("ask");
    trust();
    expect(loadConfig(cwd, env())).toMatchObject({
      values: { permissions: "auto" },
      project: { decision: "trusted" },
    });
    expect(statSync(trustFile(env())).mode & 0o777).toBe(0o600);
    writeFileSync(file, `${readFileSync(file, "utf8")}\n`);
    expect(loadConfig(cwd, env())).toMatchObject({ values: { permissions: "ask" } });
    expect(loadConfig(cwd, env()).project?.decision).toBeUndefined();
  });

  test("trust covers the code that the settings name until a file it imports changes", () => {
    project({ tools: "t.mjs" });
    const tools = write(join(folder, "project", ".throughline", "t.mjs"), 'import "./a.mjs";');
    const imported = write(join(folder, "project", ".throughline", "a.mjs"), "1;");
    trust();
    expect(loadConfig(cwd, env()).values.tools).toBe(tools);
    write(imported, "2;");
    const { values, project: state } = loadConfig(cwd, env());
    expect(values.tools).toBeUndefined();
    expect(state).toMatchObject({
      decision: undefined,
      changes: [{ file: ".throughline/a.mjs", change: "edited" }],
    });
  });

  test("without a readable decision file, nothing is trusted", () => {
    project({ permissions: "auto" });
    write(trustFile(env()), "garbage");
    expect(thrown(() => loadConfig(cwd, env())).code).toBe("trust_unreadable");
  });

  test("a link out of the project is not followed", () => {
    write(join(folder, "secret.json"), { permissions: "deny" });
    mkdirSync(join(folder, "project", ".throughline"));
    symlinkSync(join(folder, "secret.json"), join(folder, "project", ".throughline", "config.json"));
    expect(loadConfig(cwd, env()).problems[0]?.code).toBe("project_file_outside");
    expect(loadConfig(cwd, env()).values.permissions).toBe("ask");
  });
});

describe("changing a file", () => {
  test("sets and unsets by path, keeps the rest, uses mode 0600, and leaves no other file", () => {
    const file = userConfigFile(env());
    changeConfigFile(file, ["effort"], "high");
    changeConfigFile(file, ["providers", "mine"], PROVIDER);
    changeConfigFile(file, ["providers", "mine", "profile"], "openai");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      effort: "high",
      providers: { mine: { ...PROVIDER, profile: "openai" } },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    changeConfigFile(file, ["providers", "mine"], undefined);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ effort: "high" });
    changeConfigFile(file, ["effort"], undefined);
    expect(readConfigFile(file)?.values).toEqual({});
  });

  test("an invalid value is not written", () => {
    const file = user({ effort: "high" });
    expect(thrown(() => changeConfigFile(file, ["providers", "mine", "baseUrl"], "http://x")).code).toBe(
      "config_value_invalid",
    );
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ effort: "high" });
    expect(existsSync(`${file}.tmp`)).toBe(false);
  });

  test("the project file is the existing one, or a new one at the root of the repository", () => {
    expect(projectConfigFile(cwd)).toBe(join(folder, "project", ".throughline", "config.json"));
    const near = write(join(cwd, ".throughline", "config.json"), {});
    expect(projectConfigFile(cwd)).toBe(near);
  });
});

test("docs/config.schema.json is the schema of the program", () => {
  const file = resolve(import.meta.dirname, "../../../docs/config.schema.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(configSchema());
});
