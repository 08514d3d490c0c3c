import { expect, test } from "vitest";

import { groupLog, settingsOf } from "../support/group-log.ts";
import { bodyText, renderNext } from "../support/next-request.ts";
import { inputTexts } from "../support/request-body.ts";

/** Numbers that JSON.parse would change, escapes it would resolve, spaces it would drop, and unknown fields. */
const REASONING =
  '{"id":"rs_1", "type":"reasoning","summary":[ {"type":"summary_text","text":"a\\u0062\\/c","weight":-0} ],' +
  '"encrypted_content":"gAAA\\u002fB+/=","surprise":{"n":1}}';
const CALL =
  '{"id":"fc_1","type":"function_call","status":"completed","name":"get_weather","call_id":"call_1",' +
  '"arguments":"{\\"city\\":\\"\\u004cima\\",\\"id\\":12345678901234567890123}","async":1e400}';

test("law 1: at home, every field is sent back with its exact text and in its original order", () => {
  const events = groupLog([REASONING, CALL]);
  const texts = inputTexts(bodyText(renderNext(events, settingsOf("home"))));
  expect(texts.slice(1, 3)).toEqual([
    '{"id":"rs_1","type":"reasoning","summary":[ {"type":"summary_text","text":"a\\u0062\\/c","weight":-0} ],' +
      '"encrypted_content":"gAAA\\u002fB+/="}',
    CALL,
  ]);
});

test.each(["other", "account"] as const)(
  "law 1: another origin (%s) gets only the plain meaning, with nothing opaque in it",
  (name) => {
    const body = bodyText(renderNext(groupLog([REASONING, CALL]), settingsOf(name)));
    const texts = inputTexts(body);
    expect(texts.map((text) => JSON.parse(text) as unknown)).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
      {
        type: "function_call",
        call_id: "call_1",
        name: "get_weather",
        arguments: '{"city":"Lima","id":12345678901234567890123}',
      },
      {
        type: "function_call_output",
        call_id: "call_1",
        output: "not executed: the turn was interrupted before this tool ran",
      },
    ]);
    expect(texts.join("")).not.toMatch(/rs_1|fc_1|gAAA/);
  },
);
