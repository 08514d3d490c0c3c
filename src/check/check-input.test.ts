import { describe, expect, test } from "vitest";

import { RESPONSES_RULES } from "../rules/index.ts";
import { checkInput } from "./index.ts";

const user = { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" };
const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}" };
const output = { type: "function_call_output", call_id: "call_1", output: "ok" };
const answer = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text: "done", annotations: [] }],
};

test("a sound history has no findings, as an array and as a request", () => {
  const input = [user, reasoning, call, output, answer, user];
  expect(checkInput(JSON.stringify(input))).toEqual({ items: 6, findings: [] });
  expect(checkInput(JSON.stringify({ model: "m", input }))).toEqual({ items: 6, findings: [] });
  expect(checkInput(JSON.stringify({ model: "m", input: "hi" }))).toEqual({ items: 0, findings: [] });
});

describe("each kind of broken history is named by its rule, place, error and remedy", () => {
  const { summary: _summary, ...withoutSummary } = reasoning;
  const { encrypted_content: _payload, ...bare } = reasoning;
  test.each([
    ["R01", 1, [user, reasoning, user]],
    ["R03", 1, [user, bare, answer]],
    ["R04", 2, [user, answer, answer]],
    ["R05", 1, [user, { ...answer, id: "call_1" }]],
    ["R06", 1, [user, call]],
    ["R07", 1, [user, output]],
    ["R09", 1, [user, { ...call, call_id: "c".repeat(65) }, { ...output, call_id: "c".repeat(65) }]],
    ["R10", 1, [user, withoutSummary, answer]],
    ["R11", 1, [user, { ...reasoning, status: "completed" }, answer]],
    ["R12", 1, [user, { ...answer, content: [{ type: "input_text", text: "x" }] }]],
    ["R14", 1, [user, { type: "item_reference", id: "rs_1" }]],
  ])("%s at input[%i]", (rule, index, input) => {
    const found = checkInput(JSON.stringify(input)).findings.find((finding) => finding.rule === rule);
    const known = RESPONSES_RULES.find(({ id }) => id === rule);
    expect(found).toMatchObject({ place: `input[${index}]`, title: known?.title, todo: known?.todo });
    expect(found?.message).not.toBe("");
  });
});

test.each([["not json"], ["{}"], ['"text"'], ["[1]"], ["[null]"]])("%j is refused with a code", (text) => {
  expect(() => checkInput(text)).toThrow(expect.objectContaining({ code: "input_invalid" }));
});
