/** Small failures that used to be hidden, or were reported with messages that lead nowhere. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

import { expect, test } from "vitest";

import { EMULATED_MODELS } from "../../src/runtime/models/index.ts";
import {
  CLI,
  environment,
  expectNoTrace,
  expectProblem,
  newPlace,
  run,
  serverOf,
  start,
  treeOf,
} from "./harness.ts";

test("an empty search is refused", async () => {
  const place = newPlace();
  expectProblem(await run(place, ["sessions", "search", " "]), 2, "usage");
});

test.skipIf(!existsSync("/dev/full"))("output that does not fit on a full disk is a reported failure", () => {
  const place = newPlace();
  const { status, stderr } = spawnSync("sh", ["-c", `"$0" "$1" models > /dev/full`, process.execPath, CLI], {
    cwd: place.work,
    env: environment(place),
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toBe("throughline: cannot write the output: the disk is full\n");
});

test.skipIf(!existsSync("/proc/self"))(
  "doctor finds that the sessions' folder cannot be created",
  async () => {
    const ran = await run(newPlace(), ["doctor", "--offline"], {
      env: { THROUGHLINE_HOME: "/proc/nowhere" },
    });
    expect(ran.code).not.toBe(0);
    expect(ran.out).toContain("/proc/nowhere/sessions cannot be created");
    expectNoTrace(ran);
  },
);

test("a path through a file is reported in plain words", async () => {
  const place = newPlace();
  expect((await run(place, ["-p", "hi", "-m", "emulator/emu-reasoner"])).code).toBe(0);
  const file = place.write("plain.txt", "x");
  const ran = await run(place, ["sessions", "export", "--last", "-o", `${file}/x`]);
  expect(ran.code).toBe(2);
  expect(ran.err).toContain("a part of its path is a file");
  expect(ran.err).not.toContain("ENOTDIR");
});

test.concurrent.for([
  [
    "--trace in a missing folder",
    ["-p", "hi", "--trace", "no/x.jsonl"],
    "file_unwritable",
    "the folder no does not exist",
  ],
  [
    "--record in a file",
    ["-p", "hi", "--record", "plain.txt/x"],
    "file_unwritable",
    "a part of its path is a file",
  ],
  ["a missing scenario of eval", ["eval", "none.yaml"], "file_unreadable", "no such file"],
  [
    "a missing scenario of the emulator",
    ["emulator", "--scenario", "none.yaml"],
    "scenario_unreadable",
    "no such file",
  ],
  ["a folder as a scenario", ["emulator", "--scenario", "."], "scenario_unreadable", "it is a folder"],
  [
    "a missing --secret-file",
    ["sessions", "erase", "s_1", "--secret-file", "none"],
    "file_unreadable",
    "no such file",
  ],
  [
    "an --out below a file",
    ["eval", "one.yaml", "--out", "plain.txt/x"],
    "file_unwritable",
    "a part of its path is a file",
  ],
  [
    "a host that does not exist",
    ["serve", "--expose", "--port", "0", "--host", "no.invalid"],
    "listen_failed",
    "host",
  ],
  [
    "an address of another machine",
    ["serve", "--expose", "--port", "0", "--host", "192.0.2.1"],
    "listen_failed",
    "this machine does not have this address",
  ],
  [
    "a port that does not exist",
    ["conform", "http://127.0.0.1:99999/v1"],
    "base_url_invalid",
    "the highest is 65535",
  ],
  [
    "a server that does not exist",
    ["conform", "http://127.0.0.1:47/v1"],
    "server_unreachable",
    "nothing listens there",
  ],
  [
    "a --server that does not run",
    ["--server", "http://127.0.0.1:47001", "-p", "hi"],
    "server_unreachable",
    "it refused the connection",
  ],
] as const)("%s: plain words, no text of the system", async ([, args, code, says]) => {
  const place = newPlace();
  place.write("plain.txt", "x");
  place.write("one.yaml", "name: one\nturns: [{ send: hi }]\n");
  const ran = await run(place, [...args], { env: { THROUGHLINE_MODEL: "emulator/emu-reasoner" } });
  expectProblem(ran, 2, code);
  expect(ran.err).toContain(says);
  expect(ran.err).not.toMatch(/\bE[A-Z]{4,}\b|, (?:open|mkdir|read|scandir)\b|getaddrinfo/);
});

test("conform says that the server answered 401, and which variable to set", async () => {
  const place = newPlace();
  const url = await serverOf((_request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}');
  });
  for (const more of [[], ["--model", "any"]]) {
    const without = await run(place, ["conform", url, ...more]);
    expectProblem(without, 2, "api_key_refused");
    expect(without.err).toMatch(/HTTP 401.*No key was sent: set OPENAI_API_KEY, or name another variable/);
    const wrong = await run(place, ["conform", url, "--api-key-env", "MINE", ...more], {
      env: { MINE: "sk-wrong-key-0001" },
    });
    expectProblem(wrong, 2, "api_key_refused");
    expect(wrong.err).toMatch(/HTTP 401.*The key in MINE was sent: correct it/);
    expect(wrong.err).not.toContain("sk-wrong-key-0001");
  }
});

test("check advises to add an output where a call has none at all", async () => {
  const place = newPlace();
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: "{}" };
  const user = { role: "user", content: "hi" };
  place.write("history.json", JSON.stringify([user, call, user]));
  const ran = await run(place, ["check", "history.json"]);
  expect(ran.code).toBe(5);
  expect(ran.out).toMatch(
    /R08[^\n]*\n[^\n]*\n {2}to do: Put an output for each call directly after the calls/,
  );
});

test("help and version ask no question and create no session", async () => {
  const place = newPlace();
  const said = async (...args: readonly string[]): Promise<string> => {
    const ran = await run(place, args);
    expect(ran).toMatchObject({ code: 0, err: "" });
    return ran.out;
  };
  expect(await said("help")).toBe(await said("--help"));
  expect(await said("version")).toBe(await said("--version"));
  expect(await said("help", "sessions", "export")).toBe(await said("sessions", "export", "--help"));
  expect(treeOf(place.home)).toEqual([]);
});

test("a link that grants no access is refused, even if a token would have worked", async () => {
  const place = newPlace();
  const token = "a-token-of-forty-characters-for-this-test";
  const server = start(place, ["serve", "--port", "0"], { env: { THROUGHLINE_TOKEN: token } });
  await server.seen(({ out }) => out.includes("\n"), "the link");
  const { origin } = new URL(server.out.trim());
  for (const env of [{ THROUGHLINE_TOKEN: token }, {}]) {
    const list = ["sessions", "list", "--json", "--server"];
    const ran = await run(place, [...list, `${origin}/login?code=bad`], { env });
    expectProblem(ran, 2, "code_used");
    expect(ran.err).toContain(`the link grants no access`);
    expect(ran.err).toContain(`--server ${origin} with THROUGHLINE_TOKEN`);
  }
  const list = ["sessions", "list", "--json", "--server", origin];
  expect(await run(place, list, { env: { THROUGHLINE_TOKEN: token } })).toMatchObject({ code: 0 });
  server.kill("SIGTERM");
  await server.ended;
});

test("a port reserved for another service is reported as a bad address", async () => {
  const ran = await run(newPlace(), ["sessions", "list", "--server", "http://127.0.0.1:1"]);
  expectProblem(ran, 2, "server_url_invalid");
  expect(ran.err).toContain("http://127.0.0.1:1 uses a port that is reserved for another service");
});

test("models lists the same emulated models as every list to choose from", async () => {
  const { out } = await run(newPlace(), ["models", "emulator", "--json"]);
  const { providers } = JSON.parse(out) as {
    readonly providers: readonly { readonly models: readonly { readonly model: string }[] }[];
  };
  expect(providers[0]?.models.map(({ model }) => model)).toEqual(
    EMULATED_MODELS.map((name) => `emulator/${name}`),
  );
});

test("the columns of a list are aligned, and wide titles are cut by their display width", async () => {
  const place = newPlace();
  const model = ["-m", "emulator/emu-reasoner"];
  expect((await run(place, ["-p", "日本語".repeat(30), ...model])).code).toBe(0);
  expect((await run(place, ["-p", "review this", ...model], { input: "diff\n" })).code).toBe(0);
  expect((await run(place, ["fork", "--last", "--id", "short"])).code).toBe(0);
  const lines = (await run(place, ["sessions", "list"])).out.trimEnd().split("\n");
  expect(new Set(lines.map((line) => line.search(/\d{4}-\d\d-\d\d /))).size).toBe(1);
  expect(lines.map((line) => line.split(/turns? {2,}/)[1] ?? "").toSorted()).toEqual([
    "review this",
    "review this",
    `${"日本語".repeat(9)}日本…`,
  ]);
});
