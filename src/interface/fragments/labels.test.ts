import { expect, test } from "vitest";

import { formatDuration } from "./duration.ts";
import { reasoningLabel, type ReasoningBlock } from "./index.ts";
import { splitPart } from "./reasoning-text.ts";

const block: ReasoningBlock = {
  id: "rsp_1/0",
  kind: "reasoning",
  generating: false,
  superseded: false,
  seqs: [4],
  model: "gpt-5.6",
  startedAt: "2026-01-01T00:00:00.000Z",
  durationMs: 12_400,
  tokens: undefined,
  parts: [
    { title: "First", body: "a" },
    { title: "Second", body: "b" },
  ],
  cut: false,
  keptBack: false,
};

test.each([
  [0, "<1s"],
  [999, "<1s"],
  [4_400, "4s"],
  [65_000, "1m 5s"],
  [3_720_000, "1h 2m"],
])("%d ms is formatted as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("finished reasoning shows its duration and what there is to see", () => {
  expect(reasoningLabel({ ...block, tokens: 512 })).toBe("Thought for 12s · 2 parts · 512 tokens");
  expect(reasoningLabel({ ...block, parts: [] })).toBe("Thought for 12s · no summary");
  expect(reasoningLabel({ ...block, keptBack: true, parts: [] })).toBe(
    "Thought for 12s · no summary · kept for gpt-5.6, not sent to the current model",
  );
  expect(reasoningLabel({ ...block, cut: true, durationMs: undefined })).toBe(
    "Thought · interrupted · 2 parts",
  );
});

test("reasoning in progress shows its newest title", () => {
  expect(reasoningLabel({ ...block, generating: true })).toBe("Second");
  expect(reasoningLabel({ ...block, generating: true, parts: [] })).toBe("Thinking…");
  expect(
    reasoningLabel({
      ...block,
      generating: true,
      parts: [
        { title: "First", body: "" },
        { title: undefined, body: "x" },
      ],
    }),
  ).toBe("First");
});

test.each([
  ["**Title**\n\nBody", true, { title: "Title", body: "Body" }],
  ["**Unclosed", false, { title: undefined, body: "" }],
  ["**Unclosed", true, { title: "Unclosed", body: "" }],
  ["**Title**\n\n<!-- -->", true, { title: "Title", body: "" }],
  ["[REDACTED]", true, { title: undefined, body: "" }],
  ["plain text", false, { title: undefined, body: "plain text" }],
  ["**\u001B[2JClear**\n\nx", true, { title: "[2JClear", body: "x" }],
])("%j (complete: %s) splits into title and body", (text, complete, parts) => {
  expect(splitPart(text, complete)).toEqual(parts);
});

test.each([
  ["**Reading the fi", "Reading the fi", ""],
  ["**Reading the file*", "Reading the file", ""],
  ["**Reading the file**", "Reading the file", ""],
  ["**Reading the file**\n\nIt is lo", "Reading the file", "It is lo"],
  ["**", undefined, ""],
  ["*", undefined, ""],
  ["", undefined, ""],
  ["Plain te", undefined, "Plain te"],
  ["**bold** beg", "bold", "beg"],
])(
  "a part that ended as %j has the title %j and the body %j: no mark of a title is shown",
  (text, title, body) => {
    expect(splitPart(text, true)).toEqual({ title, body });
  },
);

test("a title is not shown until it is complete", () => {
  expect(splitPart("**Reading the fi", false)).toEqual({ title: undefined, body: "" });
});
