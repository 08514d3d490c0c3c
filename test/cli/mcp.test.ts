/** `throughline mcp`, and runs with MCP servers: real servers as child processes, and a login over real HTTP. */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { startAuthorization } from "../mcp/support/authorization-server.ts";
import {
  eventsOf,
  expectNoTrace,
  expectProblem,
  newPlace,
  onlyLog,
  type Place,
  run,
  start,
} from "./harness.ts";

const require = createRequire(import.meta.url);
const EVERYTHING = join(
  dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist",
  "index.js",
);
/** Reads nothing, answers nothing, and ends when its input does. */
const MUTE = ["-e", "process.stdin.resume().on('end', () => process.exit())"];

const settingsOf = (place: Place): unknown =>
  JSON.parse(readFileSync(join(place.home, "config.json"), "utf8"));

const config = (servers: object): string => JSON.stringify({ mcpServers: servers });

/** The processes whose command line contains the text. */
function processesWith(text: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => existsSync(`/proc/${pid}/cmdline`) && commandOf(pid).includes(text));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it has just ended
  }
}

describe("mcp add, list and rm", () => {
  test("an entry goes to the user's settings, is listed with its file, and can be removed", async () => {
    const place = newPlace();
    const added = await run(place, [
      "mcp",
      "add",
      "files",
      "--env",
      "A=b",
      "--",
      "node",
      "server.js",
      "two words",
    ]);
    expect(added).toMatchObject({ code: 0, out: "" });
    expect(settingsOf(place)).toEqual({
      mcpServers: { files: { command: "node", args: ["server.js", "two words"], env: { A: "b" } } },
    });
    expect((await run(place, ["mcp", "list"])).out).toContain('files  node server.js "two words"\n');
    expectProblem(await run(place, ["mcp", "add", "files", "--", "node"]), 2, "mcp_server_repeated");
    expect(await run(place, ["mcp", "add", "files", "--force", "--", "deno"])).toMatchObject({ code: 0 });
    expect(settingsOf(place)).toEqual({ mcpServers: { files: { command: "deno" } } });
    expect(await run(place, ["mcp", "rm", "files"])).toMatchObject({ code: 0 });
    expect(settingsOf(place)).toEqual({});
    expectProblem(await run(place, ["mcp", "rm", "files"]), 2, "mcp_server_unknown");
  });

  test("an address takes headers, and a key that is written out is noticed", async () => {
    const place = newPlace();
    const args = ["mcp", "add", "docs", "--url", "https://docs.example/mcp"];
    const added = await run(place, [...args, "--header", "Authorization: Bearer abcdefgh"]);
    expect(added.err).toContain("Authorization looks like a key");
    expect(added.err).not.toContain("abcdefgh");
    expect(settingsOf(place)).toEqual({
      mcpServers: {
        docs: { url: "https://docs.example/mcp", headers: { Authorization: "Bearer abcdefgh" } },
      },
    });
    const { out } = await run(place, ["mcp", "list", "--json"]);
    expect(out).not.toContain("abcdefgh");
    expect(JSON.parse(out)).toMatchObject({
      servers: [{ name: "docs", enabled: true, headers: ["Authorization"], layer: "user" }],
      problems: [],
      untrusted: [],
    });
  });

  test("--project writes .mcp.json, keeps what other programs wrote there, and says that it needs trust", async () => {
    const place = newPlace();
    place.write(".mcp.json", JSON.stringify({ other: 1, mcpServers: { old: { command: "x" } } }));
    const added = await run(place, ["mcp", "add", "files", "--project", "--", "node", "server.js"]);
    expect(added.err).toContain("throughline config trust");
    expect(JSON.parse(place.read(".mcp.json"))).toEqual({
      other: 1,
      mcpServers: { old: { command: "x" }, files: { command: "node", args: ["server.js"] } },
    });
    const listed = await run(place, ["mcp", "list"]);
    expect(listed.out).toContain("is not trusted, so these are left out: old, files");
  });

  test.each([
    [["mcp", "add", "a"], "usage"],
    [["mcp", "add", "a", "--url", "https://a.example", "--", "node"], "usage"],
    [["mcp", "add", "a", "--url", "https://a.example", "--env", "A=b"], "usage"],
    [["mcp", "add", "a", "--header", "A: b", "--", "node"], "usage"],
    [["mcp", "add", "a", "--env", "no", "--", "node"], "usage"],
    [["mcp", "add", "a\u001B[2J", "--", "node"], "mcp_server_invalid"],
    [["mcp", "add", "a", "--url", "http://example.com"], "mcp_server_invalid"],
    [["mcp", "test", "none"], "mcp_server_unknown"],
    [["mcp", "login", "none"], "mcp_server_unknown"],
    [["mcp", "list", "--mcp-config", "none.json"], "config_unreadable"],
  ])("%j is refused with a code", async (args, code) => {
    const place = newPlace();
    expectProblem(await run(place, args), 2, code);
    expect(existsSync(join(place.home, "config.json"))).toBe(false);
  });

  test("servers under the key of another program are not overlooked", async () => {
    const place = newPlace();
    place.write(".mcp.json", '{"servers":{"a":{"command":"node"}}}');
    const listed = await run(place, ["mcp", "list"]);
    expect(listed.err).toContain('"servers" is not known; use "mcpServers". This file is ignored');
    const told = await run(place, ["mcp", "list", "--mcp-config", ".mcp.json"]);
    expect(told).toMatchObject({ code: 2, out: "" });
    expect(told.err).toContain("[config_invalid]");
    const added = await run(place, ["mcp", "add", "b", "--project", "--", "node"]);
    expect(added.code).toBe(0);
    expect(JSON.parse(place.read(".mcp.json"))).toMatchObject({ servers: { a: { command: "node" } } });
  });

  test("a malformed .mcp.json is not replaced", async () => {
    const place = newPlace();
    place.write(".mcp.json", "{");
    expectProblem(await run(place, ["mcp", "add", "a", "--project", "--", "node"]), 2, "config_invalid");
    expect(place.read(".mcp.json")).toBe("{");
  });
});

describe("mcp test", () => {
  test("it shows what a server offers, and ends the server", async () => {
    const place = newPlace();
    await run(place, ["mcp", "add", "every", "--", process.execPath, EVERYTHING, "stdio", place.work]);
    const { code, out } = await run(place, ["mcp", "test", "every"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^every connected in \d+ ms, protocol 2025-11-25 or earlier\n/);
    expect(out).toContain("mcp__every__echo  echo: Echoes back the input string\n");
    expect(out).toContain("/every:simple-prompt  A prompt with no arguments\n");
    expect(processesWith(place.work)).toEqual([]);
  });

  test("a server that does not start, or stays mute, fails with code 1 and says why", async () => {
    const place = newPlace();
    await run(place, ["mcp", "add", "none", "--", "no-such-program"]);
    const none = await run(place, ["mcp", "test", "none"]);
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).toContain("none failed: there is no such program: no-such-program");
    place.write(
      "mute.json",
      JSON.stringify({ mcpServers: { mute: { command: process.execPath, args: MUTE, timeoutMs: 500 } } }),
    );
    const mute = await run(place, ["mcp", "test", "mute", "--mcp-config", "mute.json"]);
    expect(mute.err).toContain("mute failed: it did not answer within 0.5 s");
    expectNoTrace(mute);
  });

  test.each([
    [
      "the last words of a program that ends",
      "sh",
      ["-c", "echo oops >&2; exit 3"],
      "it ended before it answered. It wrote: oops\n",
    ],
    ["the error of a trace", process.execPath, ["none.js"], "It wrote: Error: Cannot find module"],
    ["an answer that is an error", "cat", [], "it answered with an error: "],
  ])("it says why: %s", async (_, command, args, words) => {
    const place = newPlace();
    await run(place, ["mcp", "add", "a", "--", command, ...args]);
    const tried = await run(place, ["mcp", "test", "a"]);
    expect(tried).toMatchObject({ code: 1, out: "" });
    expect(tried.err).toContain(words);
  });

  test("a missing folder is not mistaken for a missing program", async () => {
    const place = newPlace();
    place.write("mcp.json", config({ a: { command: process.execPath, cwd: "gone" } }));
    const tried = await run(place, ["mcp", "test", "a", "--mcp-config", "mcp.json"]);
    expect(tried.err).toContain(`a failed: there is no folder ${join(place.work, "gone")} to start it in`);
  });

  test("Ctrl-C ends the command and the server", async () => {
    const place = newPlace();
    await run(place, ["mcp", "add", "mute", "--", process.execPath, ...MUTE, place.work]);
    const running = start(place, ["mcp", "test", "mute"]);
    await expect.poll(() => processesWith(place.work)).toHaveLength(1);
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
    expect(processesWith(place.work)).toEqual([]);
  });
});

describe("a run with MCP servers", () => {
  const every = { command: process.execPath, args: [EVERYTHING, "stdio"] };

  test("a run that waits for a server says for which", async () => {
    const place = newPlace();
    place.write("mcp.json", config({ mute: { command: process.execPath, args: MUTE, timeoutMs: 3000 } }));
    const ran = await run(place, ["--mcp-config", "mcp.json", "-p", "hi"]);
    expect(ran.code, ran.err).toBe(0);
    expect(ran.err).toMatch(/waiting for the MCP server mute\n[^]*MCP server mute failed: it did not answer/);
  });

  test("the model calls a tool of a server; broken entries and servers are named and stop nothing", async () => {
    const place = newPlace();
    place.write(
      "mcp.json",
      config({
        every,
        gone: { command: "no-such-program" },
        unset: { command: "x", args: ["${NOT_SET_HERE}"] },
        odd: 5,
      }),
    );
    const args = ["--mcp-config", "mcp.json", "--permissions", "auto", "-p"];
    const ran = await run(place, [...args, "Use mcp__every__get-sum with a 2 and b 3"]);
    expect(ran.code, ran.err).toBe(0);
    expect(ran.err).toContain('the MCP server "unset" is left out: the variable NOT_SET_HERE is not set');
    expect(ran.err).toContain('the MCP server "odd" is left out');
    expect(ran.err).toContain("MCP server gone failed: there is no such program");
    const { events } = await onlyLog(place);
    const [result] = eventsOf(events, "tool_result");
    expect(result).toMatchObject({ status: "ok", text: expect.stringMatching(/^The sum of/) });
    const [settings] = eventsOf(events, "settings");
    expect(settings?.settings.tools.find(({ name }) => name === "mcp__every__get-sum")?.mcp).toEqual({
      server: "every",
      tool: "get-sum",
    });
  });

  test("without permission the call is denied, a rule allows it, and the next run keeps the same prefix", async () => {
    const place = newPlace();
    place.write("mcp.json", config({ every }));
    const prompt = "Use mcp__every__echo";
    const denied = await run(place, ["--mcp-config", "mcp.json", "-p", prompt]);
    expect(denied.code).toBe(3);
    const rule = ["--allow", "mcp__every__echo"];
    const allowed = await run(place, ["--mcp-config", "mcp.json", ...rule, "-c", "-p", prompt]);
    expect(allowed.code, allowed.err).toBe(0);
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "tool_result").map(({ status }) => status)).toEqual(["denied", "ok"]);
    expect(eventsOf(events, "settings")).toHaveLength(1);
    expect(eventsOf(events, "notice")).toEqual([]);
  });

  test("--allow-tools chooses among the tools of servers too", async () => {
    const place = newPlace();
    place.write("mcp.json", config({ every }));
    const args = ["--mcp-config", "mcp.json", "--allow-tools", "read_file,mcp__every__echo", "-p", "hi"];
    expect(await run(place, args)).toMatchObject({ code: 0 });
    const [settings] = eventsOf((await onlyLog(place)).events, "settings");
    expect(settings?.settings.tools.map(({ name }) => name)).toEqual(["read_file", "mcp__every__echo"]);
  });

  test("a key of an entry that a tool prints is redacted", async () => {
    const place = newPlace();
    place.write("mcp.json", config({ every: { ...every, env: { MY_KEY: "${OUTER_KEY}" } } }));
    const args = ["--mcp-config", "mcp.json", "--permissions", "auto", "-p", "Use mcp__every__get-env"];
    const ran = await run(place, args, { env: { OUTER_KEY: "key-of-the-entry-0001" } });
    expect(ran.code, ran.err).toBe(0);
    const { file, events } = await onlyLog(place);
    expect(eventsOf(events, "tool_result")[0]?.text).toContain('"MY_KEY": "[redacted]"');
    expect(readFileSync(file, "utf8")).not.toContain("key-of-the-entry-0001");
  });
});

describe("mcp login and logout", () => {
  test("a login prints the address, stores tokens for the user alone, and connects; a logout removes them", async () => {
    const place = newPlace();
    const at = await startAuthorization();
    await run(place, ["mcp", "add", "docs", "--url", at.mcp]);
    const before = await run(place, ["mcp", "test", "docs"]);
    expect(before).toMatchObject({ code: 1 });
    expect(before.err).toContain("needs a login");
    expect(before.err).toContain("throughline mcp login docs");
    const login = start(place, ["mcp", "login", "docs"]);
    await login.seen(({ err }) => err.includes("Waiting for the browser"), "the address");
    const link = /^http\S+$/m.exec(login.err)?.[0] ?? "";
    await (await fetch(link)).text();
    const done = await login.ended;
    expect(done.code, done.err).toBe(0);
    expect(done.err).toContain("Logged in to docs");
    const file = join(place.home, "mcp-logins.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await run(place, ["mcp", "test", "docs"])).toMatchObject({ code: 0 });
    const logout = await run(place, ["mcp", "logout", "docs"]);
    expect(logout).toMatchObject({ code: 0 });
    expect((await run(place, ["mcp", "logout", "docs"])).err).toContain("there is no login to docs");
    expect(await run(place, ["mcp", "test", "docs"])).toMatchObject({ code: 1 });
  });

  test("Ctrl-C stops a login, and a program needs none", async () => {
    const place = newPlace();
    const at = await startAuthorization();
    await run(place, ["mcp", "add", "docs", "--url", at.mcp]);
    const login = start(place, ["mcp", "login", "docs"]);
    await login.seen(({ err }) => err.includes("Waiting for the browser"), "the address");
    login.kill("SIGINT");
    expect(await login.ended).toMatchObject({ code: 130 });
    expect(existsSync(join(place.home, "mcp-logins.json"))).toBe(false);
    await run(place, ["mcp", "add", "local", "--", "node"]);
    expectProblem(await run(place, ["mcp", "login", "local"]), 2, "mcp_login_failed");
  });
});
