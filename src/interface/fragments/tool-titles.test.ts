import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { call, history, say, scriptedSession } from "../../../test/contracts/session-fixture.ts";
import { builtinTools } from "../../runtime/tools/index.ts";
import { blocksOf, exitCode, type ToolBlock, toolTitle } from "./index.ts";

const titleText = (block: ToolBlock): string => {
  const { verb, subject, facts, outcome } = toolTitle(block);
  return `${outcome}: ${[`${verb} ${subject}`.trim(), ...facts].join(" · ")}`;
};

const made: ToolBlock = {
  id: "r/0",
  generating: false,
  superseded: false,
  kind: "tool",
  seq: 5,
  callId: "c",
  name: "run_command",
  arguments: '{"command":"npm run build"}',
  progress: "",
  permission: undefined,
  result: undefined,
  startedAt: undefined,
  askedAt: undefined,
  waitedMs: 0,
  pausedMs: 0,
  pending: false,
  cut: false,
};

const ended = (text: string, more: Partial<ToolBlock> = {}): ToolBlock => ({
  ...made,
  result: { status: "ok", text, durationMs: 1 },
  ...more,
});

test("the built-in tools have titles that say what they did, from their real results", async () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, "src"));
  mkdirSync(join(cwd, "empty"));
  writeFileSync(join(cwd, "src/a.ts"), "one\ntwo\nthree\n");
  writeFileSync(join(cwd, "image.bin"), Buffer.from([0, 1, 2]));
  const calls = [
    call("read_file", { path: "src/a.ts" }),
    call("read_file", { path: "image.bin" }),
    call("read_file", { path: "missing" }),
    call("run_command", { command: "echo a; echo b; exit 3" }),
    call("run_command", { command: "echo a; echo b" }),
    call("run_command", { command: "kill -9 $$" }),
    call("run_command", { command: "sleep 5", timeoutMs: 20 }),
    call("run_command", { command: "echo '[exit code 0]'; exit 1" }),
    call("write_file", { path: "b.txt", content: "1\n2\n3" }),
    call("edit_file", { path: "b.txt", find: "1\n2\n3", replace: "1\nzwei\ndrei\n3" }),
    call("edit_file", { path: "b.txt", find: "absent", replace: "x" }),
    call("list_files", {}),
    call("list_files", { path: "empty" }),
    call("search_files", { pattern: "t\\w+", path: "src" }),
    call("search_files", { pattern: "absent" }),
  ];
  const { session } = await scriptedSession(
    [...calls.map((one) => ({ output: [one] })), { output: [say("Done.")] }],
    { tools: [...builtinTools({ cwd })], permissions: "auto" },
  );
  await session.send("go").result();
  const blocks = blocksOf(await history(session), { writerAlive: false });
  const tools = blocks.filter((block) => block.kind === "tool");
  expect(tools.map(titleText)).toEqual([
    "ok: Read src/a.ts · 3 lines",
    "ok: Read image.bin · binary",
    "failed: Read missing · failed",
    "failed: Ran echo a; echo b; exit 3 · exit 3",
    "ok: Ran echo a; echo b · 2 lines",
    "failed: Ran kill -9 $$ · ended by SIGKILL",
    "failed: Ran sleep 5 · timed out",
    "failed: Ran echo '[exit code 0]'; exit 1 · exit 1",
    "ok: Wrote b.txt · 3 lines",
    "ok: Edited b.txt · +2 −1",
    "failed: Edit b.txt · failed",
    "ok: Listed . · 4 entries",
    "ok: Listed empty · empty",
    String.raw`ok: Searched for t\w+ in src · 2 matches`,
    "ok: Searched for absent · no matches",
  ]);
  expect(tools.map(exitCode).filter((code) => code !== undefined)).toEqual([3, 0, 1]);
});

describe("a call that has not run has its verb in the present", () => {
  test.each<[string, Partial<ToolBlock>, string]>([
    [
      "being written",
      { callId: undefined, generating: true, arguments: String.raw`{"command":"npm \"ru` },
      'writing: Run npm "ru',
    ],
    ["nothing written yet", { callId: undefined, generating: true, arguments: "" }, "writing: Run"],
    ["waiting for its turn", { pending: true }, "writing: Run npm run build"],
    [
      "asked about",
      {
        permission: {
          requestId: "p",
          decision: undefined,
          question: { argumentsHash: "h", rule: undefined, waits: true },
        },
      },
      "asks: Run npm run build",
    ],
    ["running", { generating: true }, "running: Run npm run build"],
    [
      "denied",
      { result: { status: "denied", text: "no", durationMs: 0 } },
      "denied: Run npm run build · denied",
    ],
    [
      "stopped",
      { result: { status: "cancelled", text: "", durationMs: 0 } },
      "stopped: Run npm run build · stopped",
    ],
    [
      "never run",
      { result: { status: "not_executed", text: "", durationMs: 0 } },
      "not_run: Run npm run build · not executed",
    ],
    [
      "unknown",
      { result: { status: "outcome_unknown", text: "", durationMs: 0 } },
      "unknown: Run npm run build · outcome unknown",
    ],
    ["left without a result", {}, "unknown: Run npm run build"],
    ["cut while it was written", { cut: true, callId: undefined }, "not_run: Run npm run build"],
  ])("%s", (_name, more, title) => {
    expect(titleText({ ...made, ...more })).toBe(title);
  });
});

test("any other tool has its name and its first text, also one that only shares a built-in name", () => {
  const mcp = { server: "docs", tool: "search" };
  expect(
    [
      ended("found\nit", { name: "mcp__docs__search", mcp, arguments: '{"limit":3,"query":"replay"}' }),
      ended("x", { name: "run_command", mcp: { server: "s", tool: "run_command" } }),
      ended("x", { name: "read_file", arguments: '{"file":"a.ts"}' }),
      ended("x", { name: "look", arguments: "{}" }),
      ended("x", { name: "grammar", arguments: "plain text" }),
      ended("x", {
        name: "look",
        arguments: '{"a":[1],"city":"Par',
        callId: undefined,
        result: undefined,
        generating: true,
      }),
      ended("done", {
        name: "research",
        arguments: '{"prompt":"Find it"}',
        result: { status: "ok", text: "done", durationMs: 1, sessions: ["sub_1"] },
      }),
    ].map(titleText),
  ).toEqual([
    "ok: docs/search replay · 2 lines",
    "ok: s/run_command npm run build",
    "ok: read_file a.ts",
    "ok: look",
    "ok: grammar plain text",
    "writing: look Par",
    "ok: research Find it · session sub_1",
  ]);
});

test("a title is one line, hides nothing, and is cut between graphemes", () => {
  const family = "👩‍👩‍👧‍👦";
  const hostile = ended("x", { name: "to\nol\u202E", arguments: JSON.stringify({ a: "a\u0000b\n\u200Bc" }) });
  expect(titleText(hostile)).toBe(String.raw`ok: to\nol\u{202E} a\u{0}b\n\u{200B}c`);
  const { subject } = toolTitle(
    ended("x", { name: "t", arguments: JSON.stringify({ a: family.repeat(100) }) }),
  );
  expect(subject.endsWith(`${String.raw`👩\u{200D}👩\u{200D}👧\u{200D}👦`}…`)).toBe(true);
  expect(toolTitle(hostile)).toBe(toolTitle(hostile));
});
