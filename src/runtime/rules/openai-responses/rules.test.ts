import { describe, expect, test } from "vitest";

import { type RuleCases, rulesContract } from "../../../../test/contracts/rules-contract.ts";
import { createRequestCheck, RESPONSES_RULES, type Violation } from "../index.ts";
import { viewItem } from "./index.ts";

type Item = Readonly<Record<string, unknown>> & {
  readonly $group?: string;
  readonly $foreign?: true;
  readonly $hosted?: true;
  readonly $idsRepeat?: true;
};

/** Keys that begin with `$` hold what we know about an item besides its text. */
function check(...items: readonly Item[]): readonly Violation[] {
  const run = createRequestCheck("openai-responses", {});
  for (const { $group, $foreign, $hosted, $idsRepeat, ...item } of items) {
    run.push(JSON.stringify(item), {
      group: $group,
      idsRepeat: $idsRepeat,
      ...($hosted === undefined ? {} : { hosted: true }),
      ...($foreign === undefined ? {} : { foreign: true }),
    });
  }
  return run.violations();
}

const user: Item = { role: "user", content: "Hi." };
const developer: Item = {
  type: "message",
  role: "developer",
  content: [{ type: "input_text", text: "Now." }],
};
const rs = (n = 1, more: Item = {}): Item => ({
  type: "reasoning",
  id: `rs_${n}`,
  summary: [],
  encrypted_content: "gAAA",
  $group: "r1",
  ...more,
});
const msg = (n = 1, more: Item = {}): Item => ({
  type: "message",
  id: `msg_${n}`,
  role: "assistant",
  content: [{ type: "output_text", text: "Hello.", annotations: [] }],
  $group: "r1",
  ...more,
});
const fc = (n = 1, more: Item = {}): Item => ({
  type: "function_call",
  id: `fc_${n}`,
  call_id: `call_${n}`,
  name: "f",
  arguments: "{}",
  $group: "r1",
  ...more,
});
const out = (n = 1, more: Item = {}): Item => ({
  type: "function_call_output",
  call_id: `call_${n}`,
  output: "",
  ...more,
});
const ref = (id: string): Item => ({ type: "item_reference", id });
const without = (item: Item, key: string): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => name !== key));

/** Per rule: inputs that break only this rule, and similar inputs that break none. */
const CASES: Readonly<Record<string, RuleCases<readonly Item[]>>> = {
  R01: {
    breaks: {
      "reasoning at the end": [user, rs()],
      "reasoning before the user": [user, rs(), user],
      "reasoning before a developer message": [user, rs(), developer],
      "reasoning before the output of an earlier call": [user, fc(1), rs(2), out(1)],
      "reasoning before an item of another response": [user, rs(1), msg(2, { $group: "r2" })],
    },
    keeps: {
      "reasoning before its message": [user, rs(), msg()],
      "a run of reasoning before its call": [user, rs(1), rs(2), fc(), out()],
      "reasoning before a hosted item": [
        user,
        rs(),
        { type: "web_search_call", id: "ws_1", status: "completed", $group: "r1" },
        msg(),
      ],
      "a foreign history, in which only the position counts": [
        user,
        without(rs(), "$group"),
        without(msg(), "$group"),
      ],
    },
  },
  R02: {
    breaks: {
      "a message without its id": [user, rs(), without(msg(), "id")],
      "a thought without its id": [user, without(rs(), "id"), msg()],
    },
    keeps: {
      "all ids": [user, rs(), msg()],
      "no ids": [user, without(msg(), "id"), without(fc(), "id"), out()],
      "another choice in another response": [
        user,
        rs(),
        msg(),
        user,
        { ...without(msg(), "id"), $group: "r2" },
      ],
    },
  },
  R03: {
    breaks: {
      "no payload": [user, without(rs(), "encrypted_content"), msg()],
      "a null payload": [user, rs(1, { encrypted_content: null }), msg()],
      "an empty payload": [user, rs(1, { encrypted_content: "" }), msg()],
    },
    keeps: {
      "a payload": [user, rs(), msg()],
      "no id and no payload": [user, without(without(rs(), "encrypted_content"), "id"), without(msg(), "id")],
    },
  },
  R04: {
    breaks: {
      "an id twice": [user, rs(1), msg(1), user, msg(1, { $group: "r2" })],
      "in two responses of an endpoint that repeats ids": [
        user,
        msg(1, { $idsRepeat: true }),
        user,
        msg(1, { $group: "r2", $idsRepeat: true }),
      ],
    },
    keeps: {
      "two ids": [user, rs(1), msg(1), user, msg(2, { $group: "r2" })],
      "in one response of an endpoint that repeats ids": [
        user,
        rs(1, { $idsRepeat: true }),
        msg(1, { $idsRepeat: true }),
        rs(1, { $idsRepeat: true }),
        msg(2, { $idsRepeat: true }),
      ],
    },
  },
  R05: {
    breaks: {
      "65 characters": [user, msg(1, { id: `msg_${"x".repeat(61)}` })],
      "other characters": [user, msg(1, { id: "msg_é" })],
      "an empty id": [user, msg(1, { id: "" })],
      "the prefix of another type": [user, fc(1, { id: "call_1" }), out(1)],
    },
    keeps: {
      "64 characters": [user, msg(1, { id: `msg_${"x".repeat(60)}` })],
      "a type without a known prefix": [user, { type: "mcp_call", id: "whatever_1", $group: "r1" }],
    },
  },
  R06: {
    breaks: { "a call and nothing": [user, fc()], "one of two": [user, fc(1), fc(2), out(2)] },
    keeps: {
      "both of two": [user, fc(1), fc(2), out(2), out(1)],
      "a custom call": [
        user,
        { type: "custom_tool_call", id: "ctc_1", call_id: "c1", name: "f", input: "", $group: "r1" },
        { type: "custom_tool_call_output", call_id: "c1", output: "" },
      ],
      "a call that the provider ran": [user, fc(1, { $hosted: true }), msg()],
    },
  },
  R07: {
    breaks: {
      "an output and no call": [user, out()],
      "two outputs of one call": [user, fc(), out(), out()],
      "an output before its call": [user, out(1), fc(1), out(1)],
    },
    keeps: {
      "an id used again after its output": [user, fc(1), out(1), fc(1, { id: "fc_2", $group: "r2" }), out(1)],
    },
  },
  R08: {
    breaks: {
      "a user message in between": [user, fc(), user, out()],
      "a developer message in between": [user, fc(), developer, out()],
    },
    keeps: { "calls, then outputs, then the user": [user, fc(1), fc(2), out(1), out(2), user] },
  },
  R09: {
    breaks: {
      "65 characters": [user, fc(1, { call_id: "x".repeat(65) }), out(1, { call_id: "x".repeat(65) })],
      "no characters": [user, fc(1, { call_id: "" }), out(1, { call_id: "" })],
    },
    keeps: {
      "64 characters": [user, fc(1, { call_id: "x".repeat(64) }), out(1, { call_id: "x".repeat(64) })],
    },
  },
  R10: {
    breaks: {
      "no summary": [user, without(rs(), "summary"), msg()],
      "a null one": [user, rs(1, { summary: null }), msg()],
    },
    keeps: { "an empty one": [user, rs(1, { summary: [] }), msg()] },
  },
  R11: {
    breaks: { "a status": [user, rs(1, { status: "completed" }), msg()] },
    keeps: { "a status on a message": [user, rs(), msg(1, { status: "completed" })] },
  },
  R12: {
    breaks: {
      input_text: [user, msg(1, { content: [{ type: "input_text", text: "x" }] })],
      "a call as a part": [user, msg(1, { content: [{ type: "tool_call" }] })],
      nothing: [user, msg(1, { content: [] })],
    },
    keeps: {
      "a refusal": [user, msg(1, { content: [{ type: "refusal", refusal: "no" }] })],
      "a text": [user, { role: "assistant", content: "x" }],
      "input_text of a user": [{ role: "user", content: [{ type: "input_text", text: "x" }] }],
    },
  },
  R13: {
    breaks: { "no output": [user, fc(), without(out(), "output")] },
    keeps: { "an empty output": [user, fc(), out(1, { output: "" })] },
  },
  R14: {
    breaks: { "a reference": [user, { type: "item_reference", id: "rs_1" }] },
    keeps: { "the item itself": [user, rs(), msg()] },
  },
  R15: {
    breaks: { "a message in between": [user, msg(1), developer, msg(2)] },
    keeps: { "one response after the other": [user, msg(1), msg(2), developer, msg(3, { $group: "r2" })] },
  },
  R16: {
    breaks: { "a payload of another origin": [user, rs(1, { $foreign: true }), msg()] },
    keeps: {
      "a payload of this origin": [user, rs(), msg()],
      "text of another origin": [user, without(msg(1, { $foreign: true }), "id")],
    },
  },
  R17: {
    breaks: { "no content": [user, without(msg(), "content")] },
    keeps: { "an empty text": [user, { role: "user", content: "" }] },
  },
  R18: {
    breaks: {
      "a dot": [user, fc(1, { name: "functions.f" }), out()],
      "a space": [user, fc(1, { name: "f f" }), out()],
      "a line end": [user, fc(1, { name: "f\n" }), out()],
      nothing: [user, fc(1, { name: "" }), out()],
      "129 characters": [user, fc(1, { name: "f".repeat(129) }), out()],
      "a custom call": [
        user,
        { type: "custom_tool_call", id: "ctc_1", call_id: "c1", name: "f.f", input: "", $group: "r1" },
        { type: "custom_tool_call_output", call_id: "c1", output: "" },
      ],
      "the name in an output": [user, fc(), out(1, { name: "functions.f" })],
    },
    keeps: {
      "128 characters": [user, fc(1, { name: "f".repeat(128) }), out()],
      "the same name in the output": [user, fc(), out(1, { name: "f" })],
      "a hosted item, whose names are the server's": [
        user,
        { type: "mcp_call", id: "mcp_1", name: "files.read", $group: "r1" },
      ],
    },
  },
};

rulesContract(RESPONSES_RULES, CASES, (items) => {
  const found = check(...items);
  // The head of these requests is empty, and they all begin with a user message.
  for (const { index } of found) expect(index).toBeGreaterThan(0);
  return found;
});

describe("if the server keeps", () => {
  const rulesOf = (kept: { readonly items: boolean; readonly front: boolean }, ...items: readonly Item[]) => {
    const run = createRequestCheck("openai-responses", { kept, head: '{"previous_response_id":"resp_1"}' });
    for (const { $group, $foreign: _, ...item } of items) run.push(JSON.stringify(item), { group: $group });
    return run.violations().map(({ rule }) => rule);
  };
  const nothing = { items: false, front: false };
  const stored = { items: true, front: false };
  const front = { items: true, front: true };

  test.each<
    [string, { readonly items: boolean; readonly front: boolean }, readonly Item[], readonly string[]]
  >([
    ["nothing, a reference and a chain are refused", nothing, [user, ref("rs_1")], ["R14", "R14"]],
    [
      "nothing, an id alone is refused",
      nothing,
      [user, without(rs(), "encrypted_content"), msg()],
      ["R03", "R14"],
    ],
    ["items, an id alone is enough", stored, [user, without(rs(), "encrypted_content"), msg()], []],
    ["items, some may have ids and others not", stored, [user, rs(), without(fc(), "id"), out()], []],
    ["items, a referenced call has its output", stored, [user, ref("rs_1"), ref("fc_1"), out()], []],
    ["items, a referenced thought does not count as a call", stored, [user, ref("rs_1"), out()], ["R07"]],
    ["items, a referenced output answers a call", stored, [user, fc(), ref("fco_1"), user], []],
    ["items, a call still needs its output", stored, [user, ref("rs_1"), fc()], ["R06"]],
    ["the front, its calls may be answered", front, [out(1), out(2)], []],
    ["the front, each call is answered once", front, [out(1), out(1)], ["R07"]],
    ["the front, a call in the input is answered once", front, [fc(1), out(1), out(1)], ["R07"]],
    ["the front, an invalid name is still refused", front, [out(1, { name: "a.b" })], ["R18"]],
  ])("%s", (_, kept, items, rules) => {
    expect(rulesOf(kept, ...items)).toEqual(rules);
  });
});

describe("createRequestCheck", () => {
  test("names the index and answers with the API's own message", () => {
    expect(check(user, rs(7), user)).toEqual([
      {
        rule: "R01",
        index: 1,
        message: "Item 'rs_7' of type 'reasoning' was provided without its required following item.",
      },
    ]);
    expect(check(user, fc(3))).toEqual([
      { rule: "R06", index: 1, message: "No tool output found for function call call_3." },
    ]);
    expect(check(user, { type: "local_shell_call", id: "lsh_1", call_id: "c1" })).toEqual([
      { rule: "R06", index: 1, message: "No tool output found for local shell call c1." },
    ]);
    expect(check(user, { type: "shell_call_output", call_id: "c1", output: [] })).toEqual([
      { rule: "R07", index: 1, message: "No tool call found for shell call output with call_id c1." },
    ]);
  });

  test("can be queried in between: what is open then may still be closed", () => {
    const run = createRequestCheck("openai-responses", {});
    run.push(JSON.stringify(fc(1)), { group: "r1" });
    expect(run.violations().map(({ rule }) => rule)).toEqual(["R06"]);
    run.push(JSON.stringify(out(1)));
    expect(run.violations()).toEqual([]);
  });
});

describe("viewItem", () => {
  test("outlines an item without parsing its payload", () => {
    const text = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA","call_id":"c"}';
    expect(viewItem(text, 3, { group: "r1" })).toEqual({
      index: 3,
      type: "reasoning",
      id: "rs_1",
      callId: "c",
      role: undefined,
      payload: "present",
      summary: "array",
      hasContent: false,
      contentTypes: undefined,
      hasOutput: false,
      hasStatus: false,
      group: "r1",
      foreign: false,
      hosted: false,
      idsRepeat: false,
    });
  });

  test.each([
    ['{"role":"user","content":"x"}', "message"],
    ['{"content":"x"}', "unknown"],
    ['{"type":7}', "unknown"],
  ])("gives %s the type %s", (text, type) => {
    expect(viewItem(text, 0).type).toBe(type);
  });

  test("gives a part without a type the type unknown", () => {
    expect(
      viewItem('{"role":"user","content":[{"text":"x"},{"type":"input_text"}]}', 0).contentTypes,
    ).toEqual(["unknown", "input_text"]);
  });
});
