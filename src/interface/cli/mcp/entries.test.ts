/** Which MCP servers a run has: from which file, what replaces what, and what is left out with which words. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { loadConfig, recordTrust, trustFile, trustSubject } from "../../config/index.ts";
import { type McpEntries, mcpEntries } from "./entries.ts";

let folder = "";
let root = "";
let cwd = "";
let env: Record<string, string> = {};

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "throughline-mcp-")));
  root = join(folder, "project");
  cwd = join(root, "deep");
  env = { THROUGHLINE_HOME: join(folder, "home"), HOME: folder };
  mkdirSync(join(root, ".git"), { recursive: true });
  mkdirSync(cwd);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: unknown): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}
const user = (servers: unknown) => write("home/config.json", { mcpServers: servers });
const settings = (servers: unknown) => write("project/.throughline/config.json", { mcpServers: servers });
const shared = (servers: unknown) => write("project/.mcp.json", { mcpServers: servers });

function load(options: { readonly trusted?: boolean; readonly files?: readonly string[] } = {}): McpEntries {
  if (options.trusted !== false) {
    for (const part of loadConfig(cwd, env).parts)
      recordTrust(trustFile(env), { ...trustSubject(part), decision: "trusted", at: "now" });
  }
  return mcpEntries(loadConfig(cwd, env), { cwd, files: options.files ?? [], env });
}
const brief = ({ entries }: McpEntries) => entries.map(({ name, layer }) => `${name} ${layer}`);

describe("the strongest entry of a name counts", () => {
  test("a flag over the project's settings over .mcp.json over the user's, and it says what it replaces", () => {
    const ofUser = user({
      a: { command: "1" },
      b: { command: "1" },
      c: { command: "1" },
      d: { command: "1" },
    });
    const ofProject = shared({ b: { command: "2" }, c: { command: "2" }, d: { command: "2" } });
    const ofSettings = settings({ c: { command: "3" }, d: { command: "3" } });
    const first = write("one.json", { mcpServers: { d: { command: "4" } } });
    const second = write("two.json", { mcpServers: { d: { command: "5" } } });
    const { entries, problems } = load({ files: [first, "../../two.json"] });
    expect(problems).toEqual([]);
    expect(entries).toEqual([
      { name: "a", server: { command: "1", cwd }, layer: "user", file: ofUser, warnings: [], replaces: [] },
      {
        name: "b",
        server: { command: "2", cwd: root },
        layer: "mcp.json",
        file: ofProject,
        warnings: [],
        replaces: [{ layer: "user", file: ofUser }],
      },
      {
        name: "c",
        server: { command: "3", cwd: root },
        layer: "project",
        file: ofSettings,
        warnings: [],
        replaces: [
          { layer: "mcp.json", file: ofProject },
          { layer: "user", file: ofUser },
        ],
      },
      {
        name: "d",
        server: { command: "5", cwd },
        layer: "flag",
        file: second,
        warnings: [],
        replaces: [
          { layer: "flag", file: first },
          { layer: "project", file: ofSettings },
          { layer: "mcp.json", file: ofProject },
          { layer: "user", file: ofUser },
        ],
      },
    ]);
  });

  test("an untrusted file counts for nothing and is named; the user's entry stays", () => {
    user({ a: { command: "1" } });
    const file = shared({ a: { command: "2" }, b: { command: "2" } });
    const loaded = load({ trusted: false });
    expect(brief(loaded)).toEqual(["a user"]);
    expect(loaded.untrusted).toEqual([{ file, names: ["a", "b"] }]);
  });

  test("a strong entry that cannot be used does not let a weak one take its place", () => {
    user({ a: { command: "1" } });
    const file = shared({ a: { command: 2 } });
    const { entries, problems } = load();
    expect(entries).toEqual([]);
    expect(problems).toEqual([
      {
        name: "a",
        file,
        code: "mcp_server_invalid",
        message: `${file}: the MCP server "a" is left out: command: use a text`,
      },
    ]);
  });

  test("enabled: false is returned", () => {
    user({ a: { command: "x", enabled: false }, b: { url: "https://a.example/mcp", disabled: true } });
    expect(load().entries.map(({ server }) => server.enabled)).toEqual([false, false]);
  });
});

describe("an entry", () => {
  test("gets its variables from the environment, and its secrets are known", () => {
    env = { ...env, TOKEN: "t-123456789", DIR: "sub", EMPTY: "" };
    shared({
      run: {
        command: "${CMD:-node}",
        args: ["${DIR}/x.mjs", "a${EMPTY:-b}${EMPTY}c"],
        env: { TOKEN: "${TOKEN}", SHORT: "1234567" },
        cwd: "${DIR}",
      },
      web: { url: "https://${HOST:-a.example}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
    });
    const { entries, secrets } = load();
    expect(entries.map(({ server }) => server)).toEqual([
      {
        command: "node",
        args: ["sub/x.mjs", "abc"],
        env: { TOKEN: "t-123456789", SHORT: "1234567" },
        cwd: join(root, "sub"),
      },
      { url: "https://a.example/mcp", headers: { Authorization: "Bearer t-123456789" } },
    ]);
    expect(secrets).toEqual(["t-123456789", "Bearer t-123456789"]);
  });

  test("with an unset variable is left out, and the message names the variable and not its neighbours", () => {
    const file = user({
      a: { command: "x", env: { A: "${ONE}hunter2", B: "${TWO}" } },
      b: { url: "https://${HOST}/" },
      c: { command: "fine" },
    });
    const { entries, problems } = load();
    expect(entries.map(({ name }) => name)).toEqual(["c"]);
    expect(problems.map(({ name, code }) => [name, code])).toEqual([
      ["a", "mcp_variable_unset"],
      ["b", "mcp_variable_unset"],
    ]);
    expect(problems[0]?.message).toBe(
      `${file}: the MCP server "a" is left out: the variables ONE, TWO are not set. Set them, or write a default: \${NAME:-default}`,
    );
    expect(problems[1]?.message).toContain("the variable HOST is not set");
  });

  test("runs no command for a value", () => {
    user({ a: { command: "x", env: { A: "!echo 12345678", B: "$(id)", C: "`id`" } } });
    expect(load().entries[0]?.server).toMatchObject({
      env: { A: "!echo 12345678", B: "$(id)", C: "`id`" },
    });
  });

  test("may say trust in the user's own files only", () => {
    user({ a: { command: "x", trust: true } });
    shared({ b: { command: "x", trust: true } });
    settings({ c: { command: "x", trust: true } });
    const flag = write("f.json", { mcpServers: { d: { command: "x", trust: true } } });
    const told = "trust is ignored: only your own files can set it";
    expect(
      load({ files: [flag] }).entries.map(({ server, warnings }) => [server.trust, ...warnings]),
    ).toEqual([[true], [undefined, told], [undefined, told], [true]]);
  });

  test.for([
    ["text", "x"],
    ["null", null],
    ["a list", []],
    ["no command", {}],
    ["another transport", { type: "sse", url: "https://a.example" }],
    ["http elsewhere", { url: "http://a.example" }],
  ] as const)("that is %s is left out; the others stay", ([, value]) => {
    shared({ bad: value, good: { command: "x" } });
    const loaded = load();
    expect(brief(loaded)).toEqual(["good mcp.json"]);
    expect(loaded.problems).toMatchObject([{ name: "bad", code: "mcp_server_invalid" }]);
  });

  test("with an unknown field stays, with a warning", () => {
    user({ a: { command: "x", autoApprove: [] } });
    expect(load().entries[0]?.warnings).toEqual(['the field "autoApprove" is not known and is ignored']);
  });
});

describe("names", () => {
  test("that a file has twice are found: the first counts", () => {
    const file = write(
      "project/.mcp.json",
      '{"mcpServers":{"a":{"command":"1"},"b":{"command":"1"},"\\u0061":{"command":"2"}}}',
    );
    const { entries, problems } = load();
    expect(entries.map(({ name, server }) => [name, server])).toEqual([
      ["a", { command: "1", cwd: root }],
      ["b", { command: "1", cwd: root }],
    ]);
    expect(problems).toMatchObject([{ name: "a", file, code: "mcp_server_repeated" }]);
  });

  test("in a second mcpServers of one file count, and that is said", () => {
    const file = write(
      "home/config.json",
      '{"mcpServers":{"a":{"command":"1"}},"mcpServers":{"b":{"command":"1"}}}',
    );
    const loaded = load();
    expect(brief(loaded)).toEqual(["b user"]);
    expect(loaded.problems).toMatchObject([{ file, code: "mcp_server_repeated" }]);
  });

  test("that make the same tool names: the weaker or later one is left out", () => {
    user({ "my files": { command: "1" } });
    shared({ "my.files": { command: "2" }, my_files: { command: "3" } });
    const loaded = load();
    expect(brief(loaded)).toEqual(["my.files mcp.json"]);
    expect(loaded.problems.map(({ name, code }) => [name, code])).toEqual([
      ["my_files", "mcp_server_repeated"],
      ["my files", "mcp_server_repeated"],
    ]);
    expect(loaded.problems[0]?.message).toContain('the same names as those of "my.files"');
  });

  test("with control characters are shown, not obeyed", () => {
    shared({ "\u001B[2Jx": { command: "1" }, __proto__: { command: "1" } });
    write("project/.mcp.json", '{"mcpServers":{"\\u001b[2Jx":{"command":"1"},"__proto__":{"command":"1"}}}');
    const loaded = load();
    expect(brief(loaded)).toEqual(["__proto__ mcp.json"]);
    expect(loaded.problems[0]?.message).not.toContain("\u001B");
  });
});

describe("--mcp-config", () => {
  test.for([
    ["that does not exist", undefined, "config_unreadable"],
    ["that is not JSON", "{ hunter2", "config_invalid"],
    ["whose servers are a list", '{"mcpServers":[]}', "config_invalid"],
  ] as const)("a file %s is an error", ([, text, code]) => {
    const file = text === undefined ? join(folder, "no.json") : write("f.json", text);
    let thrown: unknown;
    try {
      load({ files: [file] });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code, message: expect.stringContaining("--mcp-config: ") });
    expect(String(thrown)).not.toContain("hunter2");
  });

  test("a file without servers is none", () => {
    expect(load({ files: [write("f.json", { other: 1 })] }).entries).toEqual([]);
  });
});
