/** Small failures that used to be hidden, or were reported with messages that lead nowhere. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

import { expect, test } from "vitest";

import { EMULATED_MODELS } from "../../src/runtime/models/index.ts";
import { CLI, environment, expectNoTrace, expectProblem, newPlace, run, start, treeOf } from "./harness.ts";

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
