import { expect, test } from "vitest";

import { HOME } from "../../../test/contracts/log-builder.ts";
import { formatDuration } from "./duration.ts";
import { reasoningLabel, type ReasoningBlock } from "./index.ts";
import { splitPart } from "./reasoning-text.ts";

const block: ReasoningBlock = {
  id: "rsp_1/0",
  kind: "reasoning",
  generating: false,
  superseded: false,
  seqs: [4],
  origin: HOME,
  ended: "completed",
  replacedBy: undefined,
  startedAt: "2026-01-01T00:00:00.000Z",
  durationMs: 12_400,
  tokens: undefined,
  parts: [
    { title: "First", body: "a" },
    { title: "Second", body: "b" },
  ],
  cut: false,
};

test.each([
  [0, "0 ms"],
  [9.4, "9 ms"],
  [99.6, "0.1s"],
  [400, "0.4s"],
  [949, "0.9s"],
  [950, "1s"],
  [4_400, "4s"],
  [59_600, "1m 00s"],
  [65_000, "1m 05s"],
  [3_720_000, "1h 02m"],
])("%d ms is formatted as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("finished reasoning shows its duration and what there is to see", () => {
  expect(reasoningLabel({ ...block, tokens: 512 })).toBe("Thought for 12s · 2 parts · 512 tokens");
  expect(reasoningLabel({ ...block, parts: [] })).toBe("Thought for 12s · no summary from the provider");
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
