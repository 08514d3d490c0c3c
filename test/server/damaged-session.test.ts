/** A damaged, too new or too large log over HTTP: the client learns which line is bad and what to do. */

import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { frameOpen } from "../../src/base/files/index.ts";
import { fileStore } from "../../src/index.ts";
import { temporaryFolder } from "../contracts/file-fixture.ts";
import { ask, served } from "./server-fixture.ts";

/** A session with one turn, whose file changes behind the server's back. */
async function changed(change: (lines: string[]) => void) {
  const folder = temporaryFolder();
  const store = fileStore(folder);
  const parts = await served({ store });
  const local = await parts.agent.open({ id: "s1", store });
  await local.send("Hello").result();
  await local.close();
  const file = join(folder, "s1.jsonl");
  const lines = readFileSync(file, "utf8").split("\n");
  change(lines);
  writeFileSync(file, lines.join("\n"));
  return parts;
}

const ROUTES = ["", "/events", "/log", "/requests", "/explain", "/preview", "/export?format=markdown"];

test("every route names the line and the command that salvages the log, and reveals no path of the machine", async () => {
  const parts = await changed((lines) => {
    lines[2] = (lines[2] ?? "").replace('"type"', '"tyqe"');
  });
  for (const route of ROUTES) {
    const { status, text } = await ask(parts.server, { path: `/api/sessions/s1${route}` });
    const { error } = JSON.parse(text) as {
      readonly error: { readonly code: string; readonly message: string };
    };
    expect([route, status, error.code]).toEqual([route, 409, "log_damaged"]);
    expect(error.message).toMatch(/^the log is damaged at line 3, byte \d+: .*throughline repair s1$/);
  }
  const turn = { method: "POST", path: "/api/sessions/s1/turns", body: '{"input":"x"}' };
  expect((await ask(parts.server, turn)).status).toBe(409);
  await expect(parts.remote.open({ id: "s1" })).rejects.toMatchObject({
    code: "log_damaged",
    message: expect.stringContaining("at line 3") as string,
  });
  expect(parts.problems).toEqual([]); // nothing in the server itself failed
});

test("a log of a newer format reports its format and what to do", async () => {
  const parts = await changed((lines) => {
    const [first = ""] = lines;
    const open = first.replace('"v":1', '"v":9').replace(/,"sum":"[\da-f]+"\}$/, "");
    lines[0] = frameOpen(open).toString().trimEnd();
  });
  const { status, text } = await ask(parts.server, { path: "/api/sessions/s1" });
  expect(status).toBe(409);
  expect(text).toContain("log_too_new");
  expect(text).toContain("Update throughline");
});

test("a log that is too large to read is reported as such on every route, and listed with the reason", async () => {
  const folder = temporaryFolder();
  const parts = await served({ store: fileStore(folder) });
  const file = join(folder, "s1.jsonl");
  writeFileSync(file, "", { mode: 0o600 });
  truncateSync(file, 9 * 2 ** 30); // sparse: takes no disk space
  for (const route of ROUTES) {
    const { status, text } = await ask(parts.server, { path: `/api/sessions/s1${route}` });
    expect([route, status, text]).toEqual([route, 409, expect.stringContaining("log_too_large")]);
    expect(text).not.toContain(folder);
  }
  const { text } = await ask(parts.server, { path: "/api/sessions" });
  expect(text).toContain("too large to open");
  expect(parts.problems).toEqual([]);
});

test("a full log accepts no new turn, and can be forked from its summary", async () => {
  const store = fileStore(temporaryFolder(), { largestLogBytes: 200_000 });
  const parts = await served({ store });
  const session = await parts.remote.open({ id: "s1" });
  await session.send("word ".repeat(29_500)).result();
  const turn = { method: "POST", path: "/api/sessions/s1/turns", body: '{"input":"one more message"}' };
  const refused = await ask(parts.server, turn);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("log_too_large")]);
  await session.compact({ keepTurns: 0 });
  const child = await session.fork({ id: "small", compacted: true });
  expect(await child.send("one more message").result()).toMatchObject({ status: "completed" });
  expect(parts.problems).toEqual([]);
});
