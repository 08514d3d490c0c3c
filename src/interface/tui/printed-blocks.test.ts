import { expect, test } from "vitest";

import { HOME } from "../../../test/contracts/log-builder.ts";
import {
  type Block,
  NO_MARKS,
  type ReasoningBlock,
  type TextBlock,
  ThoughtMarks,
} from "../fragments/index.ts";
import { PrintedBlocks } from "./printed-blocks.ts";
import { createStyle } from "./style.ts";
import type { View } from "./view-state.ts";

const view: View = {
  style: createStyle(false),
  reasoningOpen: false,
  toolsOpen: false,
  height: 24,
  now: 0,
  marks: NO_MARKS,
  since: () => 0,
};
const open = { ...view, reasoningOpen: true };
const thought = (id: string, more: Partial<ReasoningBlock> = {}): Block => ({
  id,
  generating: false,
  superseded: false,
  kind: "reasoning",
  seqs: [],
  origin: HOME,
  ended: "completed",
  replacedBy: undefined,
  startedAt: undefined,
  durationMs: 2000,
  tokens: undefined,
  parts: [{ title: "Title", body: "body" }],
  cut: false,
  ...more,
});
const text = (id: string, said: string, more: Partial<TextBlock> = {}): Block => ({
  id,
  generating: false,
  superseded: false,
  kind: "text",
  seq: 1,
  text: said,
  phase: undefined,
  cut: false,
  ...more,
});

test("a toggle changes entries in the window, but not those that have left it, even in part", () => {
  const printed = new PrintedBlocks();
  printed.update([thought("r/0"), text("r/1", "said"), thought("s/0")]);
  expect(printed.render(40, view)).toEqual(["▸ Thought for 2s", "", "said", "", "▸ Thought for 2s"]);
  expect(printed.release(1)).toBe(1);
  expect(printed.render(40, open)).toEqual(["", "said", "", "▾ Thought for 2s", "  Title", "  body"]);
  // One row of the last entry has left the window, so it can no longer be folded.
  expect(printed.release(3)).toBe(2);
  expect(printed.render(40, view)).toEqual(["", "▾ Thought for 2s", "  Title", "  body"]);
});

test("an answer that grows past the window continues where it was", () => {
  const printed = new PrintedBlocks();
  printed.update([text("r/0", "one\n\ntwo\n\nthr", { generating: true })]);
  expect(printed.render(40, view)).toEqual(["one", "", "two", "", "thr"]);
  expect(printed.release(2)).toBe(1);
  printed.update([text("r/0", "one\n\ntwo\n\nthree\n\nfour")]);
  expect(printed.render(40, view)).toEqual(["", "two", "", "three", "", "four"]);
});

test("a block that ends out of sight is printed again where the user can see it", () => {
  const printed = new PrintedBlocks();
  printed.update([thought("r/0", { generating: true }), text("r/1", "said")]);
  printed.render(40, view);
  expect(printed.release(1)).toBe(1);
  printed.update([thought("r/0"), text("r/1", "said")]);
  expect(printed.render(40, view)).toEqual(["", "said", "", "▸ Thought for 2s"]);
  printed.update([thought("r/0"), text("r/1", "said")]);
  expect(printed.render(40, view)).toHaveLength(4);
});

test("a turn that has left the window is printed again, exactly once", () => {
  const printed = new PrintedBlocks();
  const turn = [thought("r/0"), text("r/1", "said")];
  printed.update(turn);
  printed.render(40, view);
  expect([printed.folds("reasoning"), printed.isLeftBehind("reasoning", true, turn)]).toEqual([true, false]);
  expect(printed.release(1)).toBe(1);
  expect([printed.folds("reasoning"), printed.isLeftBehind("reasoning", true, turn)]).toEqual([false, true]);
  printed.again(turn);
  printed.update(turn);
  const rows = ["", "said", "", "▾ Thought for 2s", "  Title", "  body", "", "said"];
  expect(printed.render(40, open)).toEqual(rows);
  expect(printed.release(rows.length)).toBe(rows.length);
  expect(printed.isLeftBehind("reasoning", true, turn)).toBe(false);
  printed.update([...turn]);
  expect(printed.render(40, open)).toEqual([]);
});

test("a growing block that is printed again continues below", () => {
  const printed = new PrintedBlocks();
  const half = [thought("r/0"), text("r/1", "one\n\ntw", { generating: true })];
  printed.update(half);
  printed.render(40, view);
  printed.release(1);
  printed.again(half);
  printed.update([thought("r/0"), text("r/1", "one\n\ntwo")]);
  expect(printed.render(40, open)).toEqual([
    "",
    "one",
    "",
    "▾ Thought for 2s",
    "  Title",
    "  body",
    "",
    "one",
    "",
    "two",
  ]);
});

test("after a resize, an answer continues after the part that has left the window, even within a row", () => {
  const printed = new PrintedBlocks();
  printed.update([text("r/0", "- **one** two three four\n- fi", { generating: true })]);
  expect(printed.render(12, view)).toEqual(["- one two", "  three four", "- fi"]);
  expect(printed.releaseFinished()).toBe(0);
  printed.resume({ rows: 1, columns: 5 }); // "- one two" and "  thr"
  expect(printed.render(40, view)).toEqual(["ee four", "- fi"]);
  printed.update([text("r/0", "- **one** two three four\n- five")]);
  expect(printed.render(40, view)).toEqual(["ee four", "- five"]);
});

test("a superseded attempt is one row when folded, and complete when unfolded", () => {
  const printed = new PrintedBlocks();
  printed.update([thought("r/0"), text("r/1", "half")]);
  printed.update([
    thought("r/0", { superseded: true }),
    text("r/1", "half", { superseded: true }),
    text("s/0", "whole"),
  ]);
  const folded = ["▸ An earlier attempt was cut off and retried", "", "whole"];
  expect(printed.render(60, view)).toEqual(folded);
  expect(printed.render(60, open)).toContain("half");
});

test("a branch keeps everything printed and continues below", () => {
  const printed = new PrintedBlocks();
  printed.update([text("r/0", "first")]);
  printed.detach();
  printed.note("again");
  printed.update([text("s/0", "second")]);
  expect(printed.render(40, view)).toEqual(["first", "", "  again", "", "second"]);
});

test("history that is not printed again is skipped", () => {
  const printed = new PrintedBlocks();
  printed.skip([text("r/0", "old")]);
  printed.update([text("r/0", "old"), text("r/1", "new")]);
  expect(printed.render(40, view)).toEqual(["new"]);
});

test("starting over keeps everything printed and prints all blocks again, even skipped ones and those out of the window", () => {
  const printed = new PrintedBlocks();
  const blocks = [text("r/0", "skipped"), text("r/1", "gone"), text("r/2", "shown")];
  printed.skip(blocks.slice(0, 1));
  printed.update(blocks);
  expect(printed.render(40, view)).toEqual(["gone", "", "shown"]);
  printed.release(1);
  printed.startOver();
  printed.note("anew");
  printed.update([]);
  const before = printed.render(40, view);
  expect(before.join("\n")).toContain("shown");
  printed.update(blocks);
  expect(printed.render(40, view).slice(before.length)).toEqual(["", "skipped", "", "gone", "", "shown"]);
});

test("a mark changes the rows in the window, not those of a path that was left", () => {
  const printed = new PrintedBlocks();
  printed.update([thought("r/0", { seqs: [4] })]);
  expect(printed.render(80, view)).toEqual(["▸ Thought for 2s"]);
  const decision = { seq: 4, type: "reasoning", action: "omit", reason: "compacted", why: "" } as const;
  const marked = { ...view, marks: new ThoughtMarks([decision], HOME) };
  const rows = ["▸ Thought for 2s · Not sent · compacted, the summary stands for it"];
  expect(printed.render(80, marked)).toEqual(rows);
  printed.detach();
  expect(printed.render(80, view)).toEqual(rows);
});
