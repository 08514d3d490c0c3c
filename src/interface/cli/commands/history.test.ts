import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Command } from "commander";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { afterTest } from "../../../../test/support/clean-up.ts";
import { weatherTool } from "../../../../test/support/weather-tool.ts";
import type { LoggedEvent } from "../../../base/events/index.ts";
import { parseFaults, startEmulator } from "../../../emulator/index.ts";
import { fileStore } from "../../../runtime/log/index.ts";
import { emulator, openai } from "../../../runtime/models/index.ts";
import { createAgent } from "../../../runtime/session/index.ts";
import type { Terminal } from "../terminal.ts";
import { editCommand, forkCommand, retryCommand, undoCommand } from "./history.ts";

let home: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "throughline-history-"));
  vi.stubEnv("THROUGHLINE_HOME", home);
  vi.stubEnv("THROUGHLINE_MODEL", "emulator/emu-reasoner");
  const agent = createAgent({ model: emulator(), cwd: process.cwd() });
  const session = await agent.open({ id: "talk", store: fileStore(join(home, "sessions")) });
  await session.send("Think of a number.").result();
  await session.send("Hello there").result();
  await session.close();
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

type Create = (terminal: Terminal, finish: (code: number) => void) => Command;

async function call(
  create: Create,
  ...words: readonly string[]
): Promise<{ readonly code: number; readonly out: string }> {
  let out = "";
  let code = -1;
  const terminal = {
    stdout: { write: (text: string) => ((out += text), true) },
    stderr: { write: () => true },
    dim: (text: string) => text,
    interactive: false,
  } as unknown as Terminal;
  const command = create(terminal, (value) => {
    code = value;
  });
  await command.parseAsync([...words], { from: "user" });
  return { code, out };
}

async function eventsOf(id: string): Promise<readonly LoggedEvent[]> {
  const log = await fileStore(join(home, "sessions")).open(id, { mode: "read" });
  await log.close();
  return log.events;
}

test("undo drops the last message by appending an event", async () => {
  const before = await eventsOf("talk");
  expect((await call(undoCommand, "talk")).code).toBe(0);
  const after = await eventsOf("talk");
  expect(after.slice(0, before.length)).toEqual(before);
  const message = before.findLast((event) => event.type === "user_message");
  expect(after.at(-1)).toMatchObject({ type: "branch", why: "undo" });
  expect((after.at(-1) as { readonly to: number }).to).toBeLessThan(message?.seq ?? 0);
});

test("retry answers the last message again", async () => {
  const { code, out } = await call(retryCommand, "talk");
  expect(code).toBe(0);
  expect(out).toContain("Hello there");
  expect((await eventsOf("talk")).filter((event) => event.type === "branch")).toMatchObject([
    { why: "retry" },
  ]);
});

/** A session whose last turn ran a tool and failed when it sent the result to the model. */
async function failedAfterATool(id: string): Promise<void> {
  const server = await startEmulator({ faults: parseFaults("none;401") });
  afterTest(() => server.close());
  const model = openai("emu-reasoner", { baseUrl: server.baseUrl, apiKey: "k" });
  const agent = createAgent({ model, tools: [weatherTool], permissions: "auto", cwd: process.cwd() });
  const session = await agent.open({ id, store: fileStore(join(home, "sessions")) });
  expect((await session.send("What is the weather in Paris?").result()).status).toBe("failed");
  await session.close();
}

test("retry continues after the finished steps of a failed turn; --from-message starts over", async () => {
  await failedAfterATool("failed");
  const before = await eventsOf("failed");
  expect((await call(retryCommand, "failed")).code).toBe(0);
  const after = await eventsOf("failed");
  const result = before.findLast((event) => event.type === "tool_result");
  const [branch] = after.filter((event) => event.type === "branch");
  expect(branch?.to).toBeGreaterThanOrEqual(result?.seq ?? Number.NaN);
  expect(after.filter((event) => event.type === "tool_start")).toHaveLength(1);
  expect(after.at(-1)).toMatchObject({ type: "turn_end", status: "completed", steps: 1 });

  await failedAfterATool("anew");
  expect((await call(retryCommand, "anew", "--from-message")).code).toBe(0);
  const events = await eventsOf("anew");
  const message = events.find((event) => event.type === "user_message");
  expect(events.filter((event) => event.type === "branch")).toMatchObject([{ to: message?.seq }]);
});

test("edit changes an earlier message; the next request has only the new one", async () => {
  const message = (await eventsOf("talk")).find((event) => event.type === "user_message");
  const { code, out } = await call(editCommand, "talk", String(message?.seq), "Good", "morning");
  expect(code).toBe(0);
  expect(out).toContain("Good morning");
  await expect(call(editCommand, "talk", "0", "x")).rejects.toMatchObject({ code: "not_a_message" });
  await expect(call(editCommand, "talk", "x", "y")).rejects.toMatchObject({ code: "number_invalid" });
});

test("fork makes an independent session with the same title; the original stays", async () => {
  const before = await eventsOf("talk");
  const first = before.findIndex((event) => event.type === "turn_end");
  expect((await call(forkCommand, "talk", "--at", String(first), "--id", "child")).out).toBe("child\n");
  expect(await eventsOf("talk")).toEqual(before);
  const child = await eventsOf("child");
  expect(child[0]).toMatchObject({
    type: "session_start",
    session: "child",
    root: "talk",
    parent: { session: "talk", seq: first },
  });
  expect(child.filter((event) => event.type === "title")).toMatchObject([{ title: "Think of a number." }]);
  await expect(call(forkCommand, "talk", "--id", "child")).rejects.toMatchObject({ code: "session_exists" });
  await expect(call(forkCommand, "talk", "--at", "9999")).rejects.toMatchObject({ code: "seq_unknown" });
});

test("a fork of a branch keeps a title that was given on another branch", async () => {
  await call(undoCommand, "talk");
  await call(undoCommand, "talk");
  await call(forkCommand, "talk", "--id", "child");
  expect((await eventsOf("child")).filter((event) => event.type === "title")).toMatchObject([
    { title: "Think of a number." },
  ]);
});
