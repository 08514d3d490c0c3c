import { describe, expect, test } from "vitest";

import { HOME } from "../../../test/contracts/log-builder.ts";
import {
  NO_MARKS,
  type NoticeBlock,
  type ReasoningBlock,
  type TextBlock,
  ThoughtMarks,
  type ToolBlock,
  type TurnEndBlock,
} from "../fragments/index.ts";
import { blockRows } from "./block-rows.ts";
import { createStyle } from "./style.ts";
import type { View } from "./view-state.ts";

const view: View = {
  style: createStyle(false),
  reasoningOpen: false,
  toolsOpen: false,
  height: 24,
  now: 6400,
  marks: NO_MARKS,
  since: () => 0,
};
const open: View = { ...view, reasoningOpen: true, toolsOpen: true };
const base = { id: "r/0", generating: false, superseded: false } as const;

describe("reasoning", () => {
  const thought: ReasoningBlock = {
    ...base,
    kind: "reasoning",
    seqs: [4],
    origin: HOME,
    ended: "completed",
    replacedBy: undefined,
    startedAt: undefined,
    durationMs: 12_000,
    tokens: 512,
    parts: [
      { title: "Locating the step", body: "There are *three*." },
      { title: "Reading the log", body: "One\n\nTwo" },
    ],
    cut: false,
  };

  test.for([
    ["done, folded", thought, view, ["▸ Thought for 12s · 2 parts · 512 tokens"]],
    [
      "done, unfolded",
      thought,
      open,
      [
        "▾ Thought for 12s · 2 parts · 512 tokens",
        "  Locating the step",
        "  There are three.",
        "  Reading the log",
        "  One",
        "  ",
        "  Two",
      ],
    ],
    ["generating, folded", { ...thought, generating: true }, view, ["▸ Reading the log… 6s · part 2"]],
    [
      "generating, unfolded",
      { ...thought, generating: true },
      open,
      ["▾ Reading the log… 6s · part 2", "  ✓ Locating the step", "  One", "  ", "  Two"],
    ],
    ["nothing yet", { ...thought, generating: true, parts: [] }, open, ["▸ Thinking… 6s"]],
    [
      "without a summary",
      { ...thought, parts: [], tokens: undefined, durationMs: 4000 },
      open,
      ["▸ Thought for 4s · no summary from the provider"],
    ],
  ] as const)("%s", ([, block, how, rows]) => {
    expect(blockRows(block, 64, how)).toEqual(rows);
  });

  test("that the next request does not carry says why, and the mark stands out", () => {
    const target = { ...HOME, endpoint: "https://other.test/v1" };
    const decision = {
      seq: 4,
      type: "reasoning",
      action: "omit",
      reason: "foreign_origin",
      why: "",
    } as const;
    const marks = new ThoughtMarks([decision], target);
    expect(blockRows(thought, 64, { ...view, marks })).toEqual([
      "▸ Thought for 12s · 2 parts · 512 tokens · Not sent · made for",
      "gpt-test at another endpoint",
    ]);
    const coloured = blockRows(thought, 100, { ...view, marks, style: createStyle(true) });
    expect(coloured).toEqual([
      "\u001B[2m▸ Thought for 12s · 2 parts · 512 tokens · \u001B[22m\u001B[33mNot sent\u001B[39m" +
        "\u001B[2m · made for gpt-test at another endpoint\u001B[22m",
    ]);
    expect(blockRows({ ...thought, generating: true }, 64, { ...view, marks })).toEqual([
      "▸ Reading the log… 6s · part 2",
    ]);
  });

  test("stays within half of the window while it grows, so that it can be folded again", () => {
    const body = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n\n");
    const rows = blockRows({ ...thought, generating: true, parts: [{ title: "T", body }] }, 64, open);
    expect(rows.length).toBeLessThanOrEqual(11);
    expect(rows.at(-1)).toBe("  line 49");
    expect(rows[1]).toMatch(/^ {2}… \d+ rows above$/);
  });
});

const asked = (waits: boolean): ToolBlock["permission"] => ({
  requestId: "p",
  decision: undefined,
  question: { argumentsHash: "h", rule: undefined, waits },
});

describe("a call", () => {
  const call: ToolBlock = {
    ...base,
    kind: "tool",
    seq: 5,
    callId: "c",
    name: "edit_file",
    arguments: '{"path":"a.ts","find":"old","replace":"new"}',
    progress: "",
    permission: undefined,
    result: { status: "ok", text: "replaced 1 occurrence in a.ts", durationMs: 12 },
    startedAt: undefined,
    askedAt: undefined,
    waitedMs: 0,
    pausedMs: 0,
    pending: false,
    cut: false,
  };

  test.for([
    ["done", call, view, ["✓ Edited a.ts · +1 −1 · 12 ms"]],
    [
      "unfolded: what goes and what comes",
      call,
      open,
      [
        "✓ Edited a.ts · +1 −1 · 12 ms",
        "    path: a.ts",
        "    - old",
        "    + new",
        "    replaced 1 occurrence in a.ts",
      ],
    ],
    [
      "with an image and a word for the person, folded too",
      {
        ...call,
        result: {
          status: "ok",
          text: "seen",
          durationMs: 12,
          images: [{ type: "image", mediaType: "image/png", blob: "b", bytes: 70 }],
          forPerson: "log in\u001b[2J first",
        },
      },
      view,
      ["✓ Edited a.ts · +1 −1 · 1 image · 12 ms", "    log in␛[2J first"],
    ],
    [
      "failed: says why, folded too",
      { ...call, result: { status: "error", text: "no such file", durationMs: 1500 } },
      view,
      ["✗ Edit a.ts · failed · 2s", "    no such file"],
    ],
    [
      "running: the last line of its output",
      { ...call, generating: true, result: undefined, progress: "one\ntwo\n" },
      view,
      ["▸ Edit a.ts · +1 −1 · running 6s", "    two"],
    ],
    [
      "being written",
      { ...call, generating: true, result: undefined, callId: undefined, arguments: '{"pa' },
      view,
      ["▸ Edit · being written"],
    ],
    [
      "waiting for a person",
      { ...call, result: undefined, permission: asked(true) },
      view,
      ["? Edit a.ts · +1 −1 · waits for your answer"],
    ],
    [
      "done after a question: the wait is not counted",
      { ...call, pausedMs: 20_000, result: { status: "ok", text: "", durationMs: 31_000 } },
      view,
      ["✓ Edited a.ts · +1 −1 · 11s"],
    ],
    [
      "asked when the process died",
      { ...call, result: undefined, permission: asked(false) },
      view,
      ["? Edit a.ts · +1 −1 · /resume to answer"],
    ],
  ] as const)("%s", ([, block, how, rows]) => {
    expect(blockRows(block, 64, how)).toEqual(rows);
  });

  test("a wait for a person is told, and said not to count", () => {
    const block = {
      ...call,
      result: undefined,
      permission: asked(true),
      askedAt: "2026-11-15T10:00:00.000Z",
    };
    expect(blockRows(block, 80, { ...view, since: () => view.now - 42_000 })).toEqual([
      "? Edit a.ts · +1 −1 · waits for your answer · waited 42s, not counted",
    ]);
  });

  test("a narrow terminal shows the name of a call and leaves out facts that do not fit", () => {
    const rows = [64, 27, 20, 10].map((width) => blockRows(call, width, view)[0] ?? "");
    expect(rows.map((row) => row.replaceAll("\u001B[0m", ""))).toEqual([
      "✓ Edited a.ts · +1 −1 · 12 ms",
      "✓ Edited a… · +1 −1 · 12 ms",
      "✓ Edited a.… · +1 −1",
      "✓ Edited …",
    ]);
  });

  test("a command that exits with another code than 0 has no tick, and shows the end of its output", () => {
    const failed: ToolBlock = {
      ...call,
      name: "run_command",
      arguments: '{"command":"npm run build"}',
      result: { status: "ok", text: "one\ntwo\nthree\nfour\n[exit code 3]", durationMs: 21_400 },
    };
    const colours = { ...view, style: createStyle(true) };
    expect(blockRows(failed, 64, colours)[0]).toBe(
      "\u001B[31m✗\u001B[39m Ran npm run build\u001B[31m · exit 3 · 21s\u001B[39m",
    );
    expect(blockRows(failed, 64, view).slice(1)).toEqual([
      "    … 3 rows above",
      "    four",
      "    [exit code 3]",
    ]);
  });
});

test("an answer is rendered Markdown, links show their targets, and commentary is not hidden", () => {
  const text: TextBlock = { ...base, kind: "text", seq: 1, text: "", phase: undefined, cut: false };
  const rows = blockRows({ ...text, text: "**Bold** and [here](http://x.y/z).\n\n- one\n- two" }, 64, view);
  expect(rows).toEqual(["Bold and here (http://x.y/z).", "", "- one", "- two"]);
  expect(blockRows({ ...text, text: "On it.", phase: "commentary" }, 64, view)).toEqual(["On it."]);
});

test("a wait counts down; other notices stay unchanged", () => {
  const notice: NoticeBlock = { ...base, kind: "notice", code: "retry", text: "busy", waitMs: 9000 };
  expect(blockRows(notice, 64, view)).toEqual(["↻ busy · retrying in 3s"]);
  expect(blockRows(notice, 64, { ...view, now: 9000 })).toEqual(["↻ busy · retrying"]);
  expect(blockRows({ ...notice, waitMs: undefined }, 64, view)).toEqual(["! busy"]);
});

const NOTHING = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0 };

describe("the end of a turn", () => {
  const end: TurnEndBlock = {
    ...base,
    kind: "turn_end",
    status: "completed",
    reason: undefined,
    error: undefined,
    steps: 3,
    usage: { inputTokens: 1234, cachedTokens: 0, outputTokens: 640, reasoningTokens: 512 },
    durationMs: 31_000,
    waitedMs: 0,
  };
  const facts = "─ Worked for 31s · 3 requests · ↑1.2k ↓640 · 512 reasoning ─";

  test.for([
    ["completed", end, [facts]],
    [
      "failed",
      { ...end, status: "failed", error: { code: "x", message: "No" } },
      ["✗ Failed: No [x]. /retry tries again.", facts],
    ],
    [
      "stopped before there are token counts",
      { ...end, status: "cancelled", steps: 1, usage: { ...end.usage, ...NOTHING } },
      [
        "■ Stopped. Everything written so far is kept; your next message",
        "  continues from here.",
        "─ Worked for 31s · 1 request ─",
      ],
    ],
    [
      "incomplete",
      { ...end, status: "incomplete", reason: "max_steps" },
      ["■ Ended at a limit: max_steps.", facts],
    ],
    [
      "interrupted",
      { ...end, status: "interrupted" },
      ["■ Interrupted: the process that ran this turn ended.", facts],
    ],
  ] as const)("%s", ([, block, rows]) => {
    expect(blockRows(block, 64, view)).toEqual(rows);
  });
});
