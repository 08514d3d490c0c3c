import { describe, expect, test } from "vitest";

import { readRecording } from "./read-recording.ts";

const HEADER = {
  v: 1,
  type: "recording",
  program: "throughline/0.1.0",
  at: "2026-11-16T00:00:00.000Z",
  run: { session: "s_1", permissions: "ask", interactive: false, maxSteps: 3, access: { look: "read" } },
};
const REQUEST = { t: 10, type: "request", n: 1, method: "POST", path: "/v1/responses", hash: "ab", bytes: 2 };
const RESPONSE = {
  t: 15,
  type: "response",
  n: 1,
  status: 200,
  headers: { "content-type": "text/event-stream" },
};
const EVENT = {
  v: 1,
  seq: 0,
  id: "ev_1",
  at: "2026-11-16T00:00:00.000Z",
  epoch: 1,
  type: "title",
  title: "x",
};

function fileOf(...records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

function codeFor(text: string): unknown {
  try {
    readRecording(text, "bug.jsonl");
    return "read";
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

test("reads a recording back: facts, earlier and new events, blobs, answers with their timing", () => {
  const { requests, earlier, events, blobs, run } = readRecording(
    fileOf(
      HEADER,
      { t: 1, type: "event", earlier: true, event: EVENT },
      { t: 2, type: "event", event: { ...EVENT, seq: 1 } },
      { t: 3, type: "blob", name: "aa", base64: "aGk=" },
      REQUEST,
      RESPONSE,
      { t: 20, type: "data", n: 1, text: "data: é" },
      { t: 30, type: "data", n: 1, base64: "qQ==" },
      { t: 31, type: "end", n: 1, error: { code: "timeout_idle", message: "quiet" } },
      { t: 32, type: "of a later version" },
    ),
    "bug.jsonl",
  );
  expect({ earlier: earlier.map(({ seq }) => seq), events: events.map(({ seq }) => seq), run }).toEqual({
    earlier: [0],
    events: [1],
    run: HEADER.run,
  });
  expect(Buffer.from(blobs.get("aa") ?? []).toString()).toBe("hi");
  expect(requests).toEqual([
    {
      n: 1,
      path: "/v1/responses",
      hash: "ab",
      answer: {
        after: 5,
        status: 200,
        headers: RESPONSE.headers,
        pieces: [
          { after: 10, bytes: Buffer.from("data: é") },
          { after: 20, bytes: Buffer.from([0xa9]) },
        ],
      },
      error: { code: "timeout_idle", message: "quiet" },
    },
  ]);
});

describe("a file that cannot be played back is refused with a reason", () => {
  test.for([
    ["an empty file", "", "recording_foreign"],
    ["another kind of file", "hello\n", "recording_foreign"],
    ["a log", fileOf(EVENT), "recording_foreign"],
    ["another version", fileOf({ ...HEADER, v: 2 }), "recording_version"],
    ["no session", fileOf({ ...HEADER, run: {} }), "recording_damaged"],
    ["a line that is not JSON", `${fileOf(HEADER)}{"t":1,\n`, "recording_damaged"],
    ["a line that is cut off", fileOf(HEADER, REQUEST).slice(0, -3), "recording_damaged"],
    ["no time", fileOf(HEADER, { type: "event", event: EVENT }), "recording_damaged"],
    ["an invalid event", fileOf(HEADER, { t: 1, type: "event", event: { type: "x" } }), "recording_damaged"],
    ["data without a request", fileOf(HEADER, { t: 1, type: "data", n: 1, text: "x" }), "recording_damaged"],
    [
      "data before its head",
      fileOf(HEADER, REQUEST, { t: 1, type: "data", n: 1, text: "x" }),
      "recording_damaged",
    ],
    ["a request that is missing", fileOf(HEADER, { ...REQUEST, n: 2 }), "recording_damaged"],
    [
      "a status that is not a number",
      fileOf(HEADER, REQUEST, { ...RESPONSE, status: "200" }),
      "recording_damaged",
    ],
  ] as const)("%s", ([, text, code]) => {
    expect(codeFor(text)).toBe(code);
  });

  test("a file cut at any place is read up to its last complete line, or refused", () => {
    const text = fileOf(HEADER, REQUEST, RESPONSE, { t: 20, type: "data", n: 1, text: "x" });
    for (let length = 0; length < text.length; length += 1) {
      const whole = text.slice(0, length).endsWith("\n");
      const expected = whole
        ? "read"
        : length < text.indexOf("\n") + 1
          ? "recording_foreign"
          : "recording_damaged";
      expect([length, codeFor(text.slice(0, length))]).toEqual([length, expected]);
    }
  });
});

test("a recording of an earlier version says under another name whether a person could be asked", () => {
  const { interactive: _, ...run } = HEADER.run;
  const earlier = { ...HEADER, run: { ...run, canAsk: true } };
  expect(readRecording(fileOf(earlier), "bug.jsonl").run.interactive).toBe(true);
});
