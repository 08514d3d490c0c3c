import { describe, expect, test } from "vitest";

import { type ItemSpec, LogBuilder } from "../../../../test/contracts/log-builder.ts";
import type { Profile } from "../../../base/events/index.ts";
import { sliceObject } from "../../../base/support/index.ts";
import { type Plan, planOf } from "../../fold/index.ts";
import { outlineOf } from "../../rules/index.ts";
import { openaiResponses } from "./index.ts";
import { wholeItem, wholeOutput } from "./whole-items.ts";

const THOUGHT = '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"abc"}';
const CALL =
  '{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"look","arguments":"{}"}';
const thought = { itemType: "reasoning", itemId: "rs_1", callId: "", name: "" };
const call = { itemType: "function_call", itemId: "fc_1", callId: "call_1", name: "look" };

describe("an item is sent as its own text", () => {
  test.each([
    ["a thought", thought, THOUGHT],
    ["a thought whose payload is empty", thought, THOUGHT.replace('"abc"', '""')],
    ["a call", call, CALL],
  ])("%s, with the outline of that text", (_what, expected, text) => {
    expect(wholeItem(expected, text, true)).toEqual(outlineOf(sliceObject(text)));
  });

  test("and so is a thought without its id, where ids are not sent and it has none", () => {
    const text = THOUGHT.replace('"id":"rs_1",', "");
    expect(wholeItem({ ...thought, itemId: undefined }, text, false)).toEqual(outlineOf(sliceObject(text)));
  });

  test("and so is an output, as JSON.stringify would write it", () => {
    const { text, outline } = wholeOutput("call_1", '"a\\n"') ?? {};
    expect(text).toBe(JSON.stringify({ type: "function_call_output", call_id: "call_1", output: "a\n" }));
    expect(outline).toEqual(outlineOf(sliceObject(text ?? "")));
  });
});

describe("an item is cut", () => {
  test.each([
    ["if a field is not sent back", thought, THOUGHT.replace("}", ',"status":"completed"}'), true],
    ["if a field is repeated", thought, THOUGHT.replace("}", ',"encrypted_content":"x"}'), true],
    ["if its id is not sent", thought, THOUGHT, false],
    ["if its text has another id", thought, THOUGHT.replace("rs_1", "rs_2"), true],
    ["if its text has another type", thought, THOUGHT.replace('"reasoning"', '"message"'), true],
    ["if its text has another call id", call, CALL.replace("call_1", "call_2"), true],
    ["if its text has another name", call, CALL.replace("look", "seek"), true],
    ["if its summary is not a list", thought, THOUGHT.replace("[]", "null"), true],
    ["if it has no summary", thought, THOUGHT.replace('"summary":[],', ""), true],
    ["if its payload is null", thought, THOUGHT.replace('"abc"', "null"), true],
    ["if JSON escapes its call id", { ...call, callId: "a\\nb" }, CALL.replace("call_1", "a\\nb"), true],
    ["if there is white space between its fields", thought, THOUGHT.replace(",", ", "), true],
    ["if it is a message", { ...thought, itemType: "message" }, THOUGHT, true],
  ])("%s", (_why, expected, text, withIds) => expect(wholeItem(expected, text, withIds)).toBeUndefined());

  test("if JSON escapes the id of an output", () => expect(wholeOutput('a"b', '"x"')).toBeUndefined());
});

const rendered = (items: readonly ItemSpec[], profile: Partial<Profile> = {}): string => {
  const log = new LogBuilder().settings({}, profile).user("hi").respond({ items }).result("call_1");
  const plan = planOf(log.events) as Plan;
  expect(plan.entries[1]).toMatchObject({ kind: "group", whole: {} });
  const { body, violations } = openaiResponses
    .createRenderer()
    .render(plan, { cacheKey: "k", blob: () => undefined });
  expect(violations).toEqual([]);
  return Buffer.concat(body).toString();
};

describe("a whole group goes to the guard of this dialect", () => {
  test("if an id has the prefix of another type", () => {
    const body = rendered([{ type: "reasoning" }, { type: "call", callId: "call_1", id: "msg_1" }]);
    expect(body).not.toContain("msg_1");
    expect(body).not.toContain('encrypted_content":');
  });

  test("if a call needs its id and ids are not sent", () => {
    const body = rendered([{ type: "call", callId: "call_1", itemType: "local_shell_call" }], {
      itemIds: "omit",
    });
    expect(body).toContain('"type":"function_call"');
  });
});
