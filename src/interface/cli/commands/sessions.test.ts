import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { fileStore } from "../../../runtime/log/index.ts";
import { emulator } from "../../../runtime/models/index.ts";
import { createAgent } from "../../../runtime/session/index.ts";
import type { Terminal } from "../terminal.ts";
import { sessionsCommand } from "./sessions.ts";

let home: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "throughline-sessions-"));
  vi.stubEnv("THROUGHLINE_HOME", home);
  await play("first", "Think of a number.");
  await play("second", "Hello there");
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

async function play(id: string, prompt: string): Promise<void> {
  const agent = createAgent({ model: emulator(), cwd: process.cwd() });
  const session = await agent.open({ id, store: fileStore(join(home, "sessions")) });
  await session.send(prompt).result();
  await session.close();
}

async function sessions(
  ...words: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let out = "";
  let err = "";
  let code = -1;
  const terminal = {
    stdout: { write: (text: string) => ((out += text), true) },
    stderr: { write: (text: string) => ((err += text), true) },
    interactive: false,
  } as unknown as Terminal;
  await sessionsCommand(terminal, (value) => {
    code = value;
  }).parseAsync([...words], { from: "user" });
  return { code, out, err };
}

test("list shows the newest first, with title and turns, and shows a damaged log instead of failing", async () => {
  writeFileSync(join(home, "sessions", "broken.jsonl"), '{"not":"an event"}\n');
  const { code, out } = await sessions("list");
  expect(code).toBe(0);
  expect(out.split("\n").filter((line) => line !== "")).toHaveLength(3);
  expect(out).toMatch(/second .* 1 turn {3}Hello there/);
  expect(out).toMatch(/broken .*! the log is damaged at line 1, byte 0/);
  const rows = JSON.parse((await sessions("list", "-n", "1", "--here", "--json")).out) as readonly {
    readonly id: string;
  }[];
  expect(rows).toHaveLength(1);
});

test("show prints the conversation from the same blocks as every interface", async () => {
  const { out } = await sessions("show", "first", "--reasoning", "full");
  expect(out).toContain("› Think of a number.");
  expect(out).toMatch(/▸ Thought for [\d.]+(?:s| ms)/);
  expect(out).not.toContain("Not sent");
  expect(out).toContain("Choosing a number");
  expect(out).toContain("I have thought of a number");
  expect((await sessions("show", "first", "--reasoning", "none")).out).not.toContain("Thought for");
  const blocks = JSON.parse((await sessions("show", "first", "--json")).out) as readonly {
    readonly kind: string;
  }[];
  expect(blocks.map(({ kind }) => kind)).toEqual(["user", "reasoning", "text", "turn_end"]);
});

test("search ignores case", async () => {
  const hits = JSON.parse((await sessions("search", "HELLO", "--json")).out) as readonly {
    readonly id: string;
  }[];
  expect([...new Set(hits.map(({ id }) => id))]).toEqual(["second"]);
  expect((await sessions("search", "nowhere to be found")).out).toBe("");
});

test("rename appends a title, and the session can be found by it", async () => {
  await sessions("rename", "first", "The \u001B[2J number");
  expect((await sessions("show", "The ␛[2J number")).out).toContain("Think of a number.");
  await expect(sessions("rename", "first", "  ")).rejects.toMatchObject({ code: "title_empty" });
});

test("rm shows what it would remove, and removes the log and its files only with --yes", async () => {
  writeFileSync(join(home, "sessions", "first.torn-10"), "x");
  expect(await sessions("rm", "first")).toMatchObject({
    code: 2,
    err: expect.stringContaining("would remove first"),
  });
  expect(existsSync(join(home, "sessions", "first.jsonl"))).toBe(true);
  await expect(sessions("rm", "--yes", "first", "nobody")).rejects.toMatchObject({
    code: "session_not_found",
  });
  expect(existsSync(join(home, "sessions", "first.jsonl"))).toBe(true);
  expect((await sessions("rm", "--yes", "first")).code).toBe(0);
  expect(readdirSync(join(home, "sessions"))).toEqual(["second.jsonl", "second.summary"]);
});

test("path prints the path of the log, or of the folder", async () => {
  expect((await sessions("path", "second")).out.trim()).toBe(join(home, "sessions", "second.jsonl"));
  expect((await sessions("path")).out.trim()).toBe(join(home, "sessions"));
});

test("bad input is a coded error", async () => {
  await expect(sessions("list", "-n", "0")).rejects.toMatchObject({ code: "number_invalid" });
  await expect(sessions("show", "nobody")).rejects.toMatchObject({ code: "session_not_found" });
  await expect(sessions("show")).rejects.toMatchObject({ code: "usage" });
});
