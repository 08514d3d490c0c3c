/**
 * Everything that a repair does not name keeps its exact text: numbers no double can hold, escapes, key order, repeated
 * keys, space.
 */

import { expect, test } from "vitest";

import { repairHistory } from "../../src/diagnostics/check/index.ts";

const ODD = '"serial":12345678901234567890,"zero":-0,"text":"\\u00e9\\/","k":1,"k":2';

test.each([
  [
    "Responses",
    `[ {"role":"user","content":"Hi."},\n\n  {"type":"reasoning","id":"rs_1","summary":[],"status":"completed","encrypted_content":"gAA\\/A=="},\n\n  {"type":"message","id":"msg_1","role":"assistant","content":[ {"type":"output_text","text":"x",${ODD}} ]} ]\n`,
    `[ {"role":"user","content":"Hi."},\n\n  {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAA\\/A=="},\n\n  {"type":"message","id":"msg_1","role":"assistant","content":[ {"type":"output_text","text":"x",${ODD}} ]} ]\n`,
  ],
  [
    "Messages",
    `[{"role":"user","content":"Hi."}, {"role":"assistant","content":[{"type":"text","text":""},{"type":"server_tool_use",${ODD}}]}]`,
    `[{"role":"user","content":"Hi."}, {"role":"assistant","content":[{"type":"server_tool_use",${ODD}}]}]`,
  ],
  [
    "chat",
    `{"model":"gpt-5", "messages" : [{"role":"user","content":"Hi."},{"role":"assistant","content":"x","tool_calls":[],"name":"n"}, {"role":"user","content":[{"type":"text","text":"x",${ODD}}]}],"seed":12345678901234567890}`,
    `{"model":"gpt-5", "messages" : [{"role":"user","content":"Hi."},{"role":"assistant","content":"x","name":"n"},{"role":"user","content":[{"type":"text","text":"x",${ODD}}]}],"seed":12345678901234567890}`,
  ],
])("%s: only the wrong part changes", (_, broken, mended) => {
  const { text, changes, remaining } = repairHistory(broken);
  expect([text, changes.length, remaining]).toEqual([mended, 1, []]);
});

const line = (status: string): string =>
  `{"timestamp":"t","ordinal":12345678901234567890,"type":"response_item","payload":{"type":"reasoning","id":"rs_1","summary":[]${status},"encrypted_content":"gAA\\/A=="}}`;

test("a line of a rollout is changed in its payload and nowhere else", () => {
  const ask =
    '{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}}';
  const answer =
    '{"timestamp":"t","type":"response_item","payload":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"x"}]}}';
  const file = (status: string): string => [ask, line(status), answer, ""].join("\n");
  expect(repairHistory(file(',"status":null')).text).toBe(file(""));
});
