import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { weatherTool } from "../../../../test/support/weather-tool.ts";
import { startEmulator } from "../../../emulator/index.ts";
import { fileStore } from "../../../runtime/log/index.ts";
import { openai } from "../../../runtime/models/index.ts";
import { createAgent } from "../../../runtime/session/index.ts";
import type { Terminal } from "../terminal.ts";
import { inspectCommand } from "./inspect.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "throughline-inspect-"));
  vi.stubEnv("THROUGHLINE_HOME", home);
  vi.stubEnv("OPENAI_API_KEY", "key-for-tests");
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

/** One session with a tool turn, a follow-up and a switch of model; returns the bodies that were sent. */
async function playSession(): Promise<readonly string[]> {
  const emulator = await startEmulator();
  const model = (name: string) => openai(name, { apiKey: "key-for-tests", baseUrl: emulator.baseUrl });
  const agent = createAgent({ model: model("emu-reasoner"), tools: [weatherTool], cwd: process.cwd() });
  const session = await agent.open({ id: "looked-at", store: fileStore(join(home, "sessions")) });
  await session.send("What is the weather in Paris and in Rome?").result();
  await session.send("Think of a number.", { model: model("emu-reasoner-mini") }).result();
  await session.close();
  await emulator.close();
  return emulator.exchanges.map(({ requestText }) => requestText);
}

async function inspect(...words: readonly string[]): Promise<string> {
  let written = "";
  const out = { write: (text: string) => ((written += text), true) };
  const terminal = { stdout: out, stderr: out, interactive: false } as unknown as Terminal;
  let code = -1;
  await inspectCommand(terminal, (value) => {
    code = value;
  }).parseAsync([...words], { from: "user" });
  expect(code).toBe(0);
  return written;
}

test("the timeline shows turns, requests, tools and what was left out", async () => {
  await playSession();
  const text = await inspect("--last");
  expect(text).toContain("› What is the weather in Paris and in Rome?");
  expect(text).toMatch(/request 1 · step 1 · openai\/emu-reasoner · completed/);
  expect(text.match(/✓ get_weather · ok/g)).toHaveLength(2);
  expect(text).toContain("left out: 2 items (foreign_origin)");
  const { turns } = JSON.parse(await inspect("looked-at", "--json")) as {
    turns: readonly { status: string }[];
  };
  expect(turns.map(({ status }) => status)).toEqual(["completed", "completed"]);
});

test("a request is the body that was sent, and is verified by its hash", async () => {
  const bodies = await playSession();
  for (const [index, body] of bodies.entries()) {
    const seen = JSON.parse(await inspect("looked", "--request", String(index + 1), "--format", "json")) as {
      readonly proof: string;
      readonly body: unknown;
    };
    expect(seen.proof).toBe("same");
    expect(seen.body).toEqual(JSON.parse(body));
  }
  expect(await inspect("looked-at", "--request", "2")).toContain(
    "verified: these are the bytes that were sent",
  );
});

test("a diff shows what was added; a preview for another model sends no reasoning", async () => {
  await playSession();
  const difference = await inspect("looked-at", "--diff", "1", "2");
  expect(difference).toContain("the first item is the same");
  expect(difference.match(/^\+ .*"type":"reasoning"/gm)).toHaveLength(1);
  const preview = JSON.parse(await inspect("looked-at", "--preview", "-m", "openai/another", "--json")) as {
    readonly body: {
      readonly input: readonly { readonly type: string }[];
      readonly tools: readonly unknown[];
    };
    readonly violations: readonly unknown[];
  };
  expect(preview.body.input.some(({ type }) => type === "reasoning")).toBe(false);
  expect(preview.body.input.length).toBeGreaterThan(5);
  expect(preview.body.tools).toHaveLength(1);
  expect(preview.violations).toEqual([]);
});

function messageItem(text: string): string {
  return `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"${text}","annotations":[]}]}`;
}

/** Answers every request with one message, whose item is this text. */
function answering(items: readonly string[]): typeof fetch {
  let next = 0;
  return async () => {
    const item = items[next] ?? "";
    const response = `{"id":"resp_${(next += 1)}","status":"completed","output":[${item}],"usage":{}}`;
    const events = [
      `{"type":"response.created","response":${response.replace("completed", "in_progress")}}`,
      `{"type":"response.output_item.done","output_index":0,"item":${item}}`,
      `{"type":"response.completed","response":${response}}`,
    ];
    const body = events
      .map((event) => `event: ${(JSON.parse(event) as { type: string }).type}\ndata: ${event}\n\n`)
      .join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

test("a diff compares bytes: an escaped letter differs from the letter", async () => {
  const first = messageItem(String.raw`caf\u00e9`);
  const second = messageItem("café");
  const agent = createAgent({
    model: openai("gpt-5.6", { apiKey: "key-for-tests", baseUrl: "http://127.0.0.1:9/v1" }),
    cwd: process.cwd(),
    fetch: answering([first, first, second, second]),
  });
  const session = await agent.open({ id: "looked-at", store: fileStore(join(home, "sessions")) });
  await session.send("drink").result();
  await session.send("more").result();
  let seq = -1;
  for await (const event of session.events()) if (seq < 0 && event.type === "user_message") seq = event.seq;
  await session.edit(seq, "drink").result();
  await session.send("more").result();
  await session.close();
  const difference = await inspect("looked-at", "--diff", "2", "4");
  expect(difference).toContain("request 2 → 4: the first item is the same\n");
  expect(difference).toContain(`- ${first}\n`);
  expect(difference).toContain(`+ ${second}\n`);
  const told = JSON.parse(await inspect("looked-at", "--diff", "2", "4", "--json")) as object;
  expect(told).toMatchObject({ sameItems: 1, removed: [{ id: "msg_1" }, {}], added: [{ id: "msg_1" }, {}] });
});

test("bad input is a coded error that says what to do", async () => {
  await playSession();
  await expect(inspect()).rejects.toMatchObject({ code: "usage" });
  await expect(inspect("nobody")).rejects.toMatchObject({ code: "session_not_found" });
  await expect(inspect("looked-at", "--request", "99")).rejects.toMatchObject({ code: "request_unknown" });
  await expect(inspect("looked-at", "--request", "x")).rejects.toMatchObject({ code: "number_invalid" });
  await expect(inspect("looked-at", "--diff", "1")).rejects.toMatchObject({ code: "diff_invalid" });
});
