import { expect, test } from "vitest";

import type { Block, ReasoningBlock, TextBlock } from "../fragments/index.ts";
import { createStyle } from "./style.ts";
import { Transcript } from "./transcript.ts";
import type { View } from "./view-state.ts";

const view: View = {
  style: createStyle(false),
  reasoningOpen: false,
  toolsOpen: false,
  height: 24,
  now: 0,
  since: () => 0,
};
const open = { ...view, reasoningOpen: true };
const thought = (id: string, more: Partial<ReasoningBlock> = {}): Block => ({
  id,
  generating: false,
  superseded: false,
  kind: "reasoning",
  seqs: [],
  model: "m",
  startedAt: undefined,
  durationMs: 2000,
  tokens: undefined,
  parts: [{ title: "Title", body: "body" }],
  cut: false,
  keptBack: false,
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

test("a toggle changes what is in the window and leaves what has left it, whole or in part", () => {
  const transcript = new Transcript();
  transcript.update([thought("r/0"), text("r/1", "said"), thought("s/0")]);
  expect(transcript.render(40, view)).toEqual(["▸ Thought for 2s", "", "said", "", "▸ Thought for 2s"]);
  expect(transcript.release(1)).toBe(1);
  expect(transcript.render(40, open)).toEqual(["", "said", "", "▾ Thought for 2s", "  Title", "  body"]);
  // One row of the last entry is gone: it can no longer be folded.
  expect(transcript.release(3)).toBe(2);
  expect(transcript.render(40, view)).toEqual(["", "▾ Thought for 2s", "  Title", "  body"]);
});

test("an answer that grows past the window goes on where it was", () => {
  const transcript = new Transcript();
  transcript.update([text("r/0", "one\n\ntwo\n\nthr", { generating: true })]);
  expect(transcript.render(40, view)).toEqual(["one", "", "two", "", "thr"]);
  expect(transcript.release(2)).toBe(1);
  transcript.update([text("r/0", "one\n\ntwo\n\nthree\n\nfour")]);
  expect(transcript.render(40, view)).toEqual(["", "two", "", "three", "", "four"]);
});

test("what ended out of sight is told again where a person looks", () => {
  const transcript = new Transcript();
  transcript.update([thought("r/0", { generating: true }), text("r/1", "said")]);
  transcript.render(40, view);
  expect(transcript.release(1)).toBe(1);
  transcript.update([thought("r/0"), text("r/1", "said")]);
  expect(transcript.render(40, view)).toEqual(["", "said", "", "▸ Thought for 2s"]);
  transcript.update([thought("r/0"), text("r/1", "said")]);
  expect(transcript.render(40, view)).toHaveLength(4);
});

test("what has left the window is printed once more, and once only", () => {
  const transcript = new Transcript();
  const turn = [thought("r/0"), text("r/1", "said")];
  transcript.update(turn);
  transcript.render(40, view);
  expect([transcript.folds("reasoning"), transcript.isLeftBehind("reasoning", true, turn)]).toEqual([
    true,
    false,
  ]);
  expect(transcript.release(1)).toBe(1);
  expect([transcript.folds("reasoning"), transcript.isLeftBehind("reasoning", true, turn)]).toEqual([
    false,
    true,
  ]);
  transcript.again(turn);
  transcript.update(turn);
  const rows = ["", "said", "", "▾ Thought for 2s", "  Title", "  body", "", "said"];
  expect(transcript.render(40, open)).toEqual(rows);
  expect(transcript.release(rows.length)).toBe(rows.length);
  expect(transcript.isLeftBehind("reasoning", true, turn)).toBe(false);
  transcript.update([...turn]);
  expect(transcript.render(40, open)).toEqual([]);
});

test("printed once more while it grows, it goes on below", () => {
  const transcript = new Transcript();
  const half = [thought("r/0"), text("r/1", "one\n\ntw", { generating: true })];
  transcript.update(half);
  transcript.render(40, view);
  transcript.release(1);
  transcript.again(half);
  transcript.update([thought("r/0"), text("r/1", "one\n\ntwo")]);
  expect(transcript.render(40, open)).toEqual([
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

test("after another size an answer goes on behind what has left the window, also within a row", () => {
  const transcript = new Transcript();
  transcript.update([text("r/0", "- **one** two three four\n- fi", { generating: true })]);
  expect(transcript.render(12, view)).toEqual(["- one two", "  three four", "- fi"]);
  expect(transcript.releaseFinished()).toBe(0);
  transcript.resume({ rows: 1, columns: 5 }); // "- one two" and "  thr"
  expect(transcript.render(40, view)).toEqual(["ee four", "- fi"]);
  transcript.update([text("r/0", "- **one** two three four\n- five")]);
  expect(transcript.render(40, view)).toEqual(["ee four", "- five"]);
});

test("a superseded attempt is one row, and all of it unfolded", () => {
  const transcript = new Transcript();
  transcript.update([thought("r/0"), text("r/1", "half")]);
  transcript.update([
    thought("r/0", { superseded: true }),
    text("r/1", "half", { superseded: true }),
    text("s/0", "whole"),
  ]);
  const folded = ["▸ An earlier attempt broke off and was made again", "", "whole"];
  expect(transcript.render(60, view)).toEqual(folded);
  expect(transcript.render(60, open)).toContain("half");
});

test("a branch leaves what was printed and goes on below", () => {
  const transcript = new Transcript();
  transcript.update([text("r/0", "first")]);
  transcript.detach();
  transcript.note("again");
  transcript.update([text("s/0", "second")]);
  expect(transcript.render(40, view)).toEqual(["first", "", "  again", "", "second"]);
});

test("history that is not printed again is skipped", () => {
  const transcript = new Transcript();
  transcript.skip([text("r/0", "old")]);
  transcript.update([text("r/0", "old"), text("r/1", "new")]);
  expect(transcript.render(40, view)).toEqual(["new"]);
});
