/** Files that are not a history: a code and what to do, never a stack trace or a hang. */

import { describe, expect, test } from "vitest";

import {
  checkHistory,
  FORMATS,
  type FormatName,
  MAX_HISTORY_BYTES,
  readHistory,
  repairHistory,
} from "../../src/diagnostics/check/index.ts";

const DEEP = `[${"[".repeat(100_000)}${"]".repeat(100_000)}]`;

describe.each([
  ["nothing", "", "input_invalid"],
  ["blanks", " \n\t\n", "input_invalid"],
  ["not JSON", "not json", "input_invalid"],
  ["a text", '"text"', "input_invalid"],
  ["a number", "7", "input_invalid"],
  ["an object without a history", "{}", "input_invalid"],
  ["numbers", "[1]", "input_invalid"],
  ["nothings", "[null]", "input_invalid"],
  ["half an array", '[{"role":"user","content":"x"}', "input_invalid"],
  ["another tool's lines", '{"a":1}\n{"b":2}\n', "input_invalid"],
  ["a million brackets", DEEP, "input_too_deep"],
])("%s", (_, text, code) => {
  test("is refused with a code, by check and by repair", () => {
    for (const run of [checkHistory, repairHistory]) {
      expect(() => run(text)).toThrow(expect.objectContaining({ name: "ThroughlineError", code }));
      expect(() => run(Buffer.from(text))).toThrow(expect.objectContaining({ code }));
    }
  });
});

const line = (payload: unknown): string =>
  `${JSON.stringify({ timestamp: "t", type: "response_item", payload })}\n`;

test("bytes that are not text are refused, unless only one line of many is damaged", () => {
  const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0xfe]);
  expect(() => checkHistory(picture)).toThrow(expect.objectContaining({ code: "file_not_text" }));
  const ask = line({ type: "message", role: "user", content: [{ type: "input_text", text: "Hé" }] });
  const torn = Buffer.concat([Buffer.from(ask), Buffer.from([0x7b, 0xff, 0xfe, 0x0a]), Buffer.from(ask)]);
  expect(checkHistory(torn)).toMatchObject({
    format: "codex-rollout",
    pieces: 2,
    findings: [{ rule: "file", location: "line 2" }],
  });
  expect(repairHistory(torn)).toMatchObject({
    text: ask + ask,
    changes: [{ rule: "file", location: "line 2" }],
    remaining: [],
  });
});

test("a file larger than any history is refused unread", () => {
  const huge = new Uint8Array(MAX_HISTORY_BYTES + 1);
  expect(() => checkHistory(huge)).toThrow(expect.objectContaining({ code: "file_too_large" }));
});

test("an unknown vendor is an error that names the known ones", () => {
  expect(() => checkHistory('[{"role":"tool","tool_call_id":"x","content":""}]', { vendor: "acme" })).toThrow(
    expect.objectContaining({
      code: "vendor_unknown",
      message: expect.stringContaining("deepseek") as unknown,
    }),
  );
});

const STRANGE = [
  "[]",
  "{}",
  '[{"role":"user"}]',
  '[{"role":7,"content":{}}]',
  '[{"type":"message","role":"assistant","content":[7,null,"x"]}]',
  '[{"role":"assistant","tool_calls":[null,7,{"function":3}]}]',
  '[{"role":"assistant","parts":[null,{"type":"tool-x"},{"type":"reasoning","providerMetadata":7}]}]',
  '[{"type":"ai","data":{"content":[null,7,{}],"tool_calls":[null]}}]',
  '[{"lc":1,"type":"constructor","id":[],"kwargs":null}]',
  '[{"type":"reasoning","content":[],"providerData":{}},{"type":"function_call_result"}]',
  '{"type":"session","id":"x"}\n{"type":"message","id":"a","parentId":"a","message":{"role":"assistant","content":[null,{"type":"toolCall"}]}}\n',
  '{"type":"user","message":{"content":null},"uuid":"a","parentUuid":"a"}\n{"type":"assistant","message":{"content":[7]},"uuid":"b","parentUuid":"b"}\n',
  '{"type":"response_item","payload":null}\n{"type":"compacted","payload":{"replacement_history":[null,7]}}\n',
  '{"messages":{}}',
  '{"input":"just a text"}',
];

describe.each(Object.keys(FORMATS) as FormatName[])("a file forced to be %s", (format) => {
  test.each(STRANGE)("%s is accepted, repaired or refused with a code", (text) => {
    for (const run of [checkHistory, repairHistory]) {
      try {
        expect(run(text, { format }).format).toBe(format);
      } catch (error) {
        expect(error).toMatchObject({ name: "ThroughlineError", code: "input_invalid" });
      }
    }
  });
});

describe.each([
  [
    "checkHistory",
    (content: unknown, format?: unknown) => checkHistory(content as string, { format } as never),
  ],
  [
    "repairHistory",
    (content: unknown, format?: unknown) => repairHistory(content as string, { format } as never),
  ],
  [
    "readHistory",
    (content: unknown, format?: unknown) => readHistory(content as string, format as FormatName),
  ],
] as const)("%s", (name, call) => {
  test.each([[[{ role: "user", content: "x" }]], [{ messages: [] }], [undefined], [7]])(
    "refuses a history that is not text: %j",
    (content) => {
      expect(() => call(content)).toThrow(
        expect.objectContaining({
          code: "input_invalid",
          message: expect.stringContaining("JSON.stringify") as unknown,
        }),
      );
    },
  );

  test("refuses an unknown format and suggests a known one", () => {
    expect(() => call("[]", "chatt")).toThrow(
      expect.objectContaining({
        code: "options_invalid",
        message: expect.stringMatching(`^${name}: format is "chatt".*did you mean "chat"`) as unknown,
      }),
    );
  });
});

test("an unknown vendor gets a suggestion", () => {
  expect(() => checkHistory('[{"role":"user","content":"x"}]', { vendor: "depseek" })).toThrow(
    /did you mean "deepseek"\?$/,
  );
});
