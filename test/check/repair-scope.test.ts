/** The options `scope` and `rules`: what a repair of somebody else's request changes, and what it never touches. */

import { describe, expect, test } from "vitest";

import { repairHistory, type RepairOptions } from "../../src/diagnostics/check/index.ts";
import { type Json, user, without } from "../emulator/emulator-client.ts";
import { healedAtOnce, liveMessages, liveResponses } from "./live-requests.ts";

const call = (id: string, more: Json = {}): Json => ({
  type: "function_call",
  call_id: id,
  name: "look",
  arguments: "{}",
  ...more,
});
const output = (id: string): Json => ({ type: "function_call_output", call_id: id, output: `real ${id}` });
const reference = (id: string): Json => ({ type: "item_reference", id });
const thought = (id: string, more: Json = {}): Json => ({
  type: "reasoning",
  id,
  summary: [],
  encrypted_content: `gAAA${id}`,
  ...more,
});
const said = (id: string): Json => ({
  type: "message",
  id,
  role: "assistant",
  content: [{ type: "output_text", text: id }],
});
const use = (id: string, more: Json = {}): Json => ({
  type: "tool_use",
  id,
  name: "look",
  input: {},
  ...more,
});
const answer = (id: string, more: Json = {}): Json => ({
  type: "tool_result",
  tool_use_id: id,
  content: "done",
  ...more,
});
const says = (role: string, ...content: readonly Json[]): Json => ({ role, content });

interface Outcome {
  readonly body: Json;
  readonly rules: readonly string[];
  readonly remaining: readonly string[];
}

function repaired(body: Json, options: RepairOptions = {}): Outcome {
  const { text, changes, remaining } = repairHistory(JSON.stringify(body), { scope: "history", ...options });
  return {
    body: JSON.parse(text) as Json,
    rules: changes.map(({ rule }) => rule),
    remaining: remaining.map(({ rule }) => rule),
  };
}

const given = (value: unknown): RepairOptions => value as RepairOptions;

describe("options that do not exist are refused with the one that was meant", () => {
  test.each<[object, string]>([
    [{ scope: "histroy" }, 'repairHistory: scope is "histroy": use "history"; did you mean "history"?'],
    [{ rules: "R06" }, 'repairHistory: rules is "R06": use an array of numbers of rules'],
    [
      { rules: ["R06", "R7"] },
      'repairHistory: rules is an array: use an array of numbers of rules; entry 1 must be the number of a rule, such as "R06"; did you mean "R07"?',
    ],
    [
      { rules: [6] },
      "repairHistory: rules is an array: use an array of numbers of rules; entry 0 must be the number of a rule",
    ],
  ])("%j", (options, message) => {
    expect(() => repairHistory("[]", given(options))).toThrow(
      expect.objectContaining({ code: "options_invalid", message }),
    );
  });
});

describe("scope history changes no parameter and adds no words", () => {
  const claude = { model: "claude-x", max_tokens: 4096 };
  test.each<[string, string, Json]>([
    [
      "M10",
      "an answer at the end",
      { ...claude, messages: [user("a"), says("assistant", { type: "text", text: "b" })] },
    ],
    [
      "M16",
      "a conversation without a user",
      { ...claude, messages: [says("assistant", use("a")), says("user", answer("a"))] },
    ],
    ["M19", "a missing limit", { model: "claude-x", system: "s", messages: [user("a")] }],
    [
      "M19",
      "a budget that is too small",
      { ...claude, thinking: { type: "enabled", budget_tokens: 10 }, messages: [user("a")] },
    ],
    [
      "M20",
      "a forced tool",
      {
        ...claude,
        thinking: { type: "enabled", budget_tokens: 1024 },
        tool_choice: { type: "any" },
        messages: [user("a")],
      },
    ],
    [
      "Q07",
      "a user after a tool",
      {
        model: "mistral-x",
        messages: [
          user("a"),
          {
            role: "assistant",
            tool_calls: [{ id: "abcdefghi", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "abcdefghi", content: "" },
          user("b"),
        ],
      },
    ],
    [
      "R14",
      "a response that is not stored",
      { store: false, previous_response_id: "resp_1", input: [user("a"), call("1"), output("1")] },
    ],
  ])("%s: %s is left and reported", (rule, _, body) => {
    expect(repaired(body)).toEqual({ body, rules: [], remaining: [rule] });
    expect(repaired(body, { scope: undefined }).rules).not.toEqual([]);
  });

  test("a call is closed with the constant result", () => {
    const { body, rules } = repaired({ store: false, input: [user("a"), call("1")] });
    expect(rules).toEqual(["R06"]);
    expect(body).toMatchObject({ store: false, input: [user("a"), call("1"), { call_id: "1" }] });
  });
});

describe("scope history may switch thinking off", () => {
  const loop = [user("a"), says("assistant", use("a")), says("user", answer("a"))];
  const enabled = { type: "enabled", budget_tokens: 1024 };
  const lacking = [
    user("a"),
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "1", content: "" },
  ];
  const error = "The `reasoning_content` in the thinking mode must be passed back to the API.";

  test.each<[string, Json, RepairOptions, Json]>([
    [
      "M02 on Claude",
      { model: "claude-x", max_tokens: 4096, thinking: enabled, messages: loop },
      {},
      { thinking: { type: "disabled" } },
    ],
    ["Q03 on DeepSeek", { model: "deepseek-v4", messages: lacking }, {}, { thinking: { type: "disabled" } }],
    [
      "Q03 on Kimi",
      { model: "kimi-k2.5", thinking: { type: "enabled", keep: "all" }, messages: lacking },
      {},
      { thinking: { type: "disabled" } },
    ],
    [
      "the error on OpenRouter",
      { model: "a/b", messages: lacking },
      { vendor: "openrouter", error },
      { reasoning: { enabled: false } },
    ],
    [
      "the error, where the request has another switch",
      { model: "qwen-x", enable_thinking: true, messages: lacking },
      { error },
      { enable_thinking: false },
    ],
    [
      "the error of an unknown vendor",
      { model: "x", messages: lacking },
      { error },
      { thinking: { type: "disabled" } },
    ],
  ])("%s", (_, body, options, more) => {
    expect(repaired(body, options)).toMatchObject({ body: { ...body, ...more }, remaining: [] });
  });

  test.each<[string, Json]>([
    ["kimi-k2.7", { messages: lacking }],
    ["kimi-k3", { messages: lacking }],
    ["claude-opus-5-5", { max_tokens: 4096, thinking: enabled, messages: loop }],
  ])("but not on %s, which always thinks", (model, more) => {
    const body = { model, ...more };
    expect(repaired(body)).toMatchObject({ body, rules: [] });
  });
});

describe("scope history leaves what the server resolves", () => {
  const error =
    "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
  test.each<[string, Json, RepairOptions]>([
    ["a chain and one output", { previous_response_id: "resp_1", input: [output("1")] }, {}],
    [
      "a chain and one output, not stored",
      { store: false, previous_response_id: "resp_1", input: [output("1")] },
      {},
    ],
    ["a conversation", { conversation: "conv_1", input: [output("1")] }, {}],
    [
      "references and an output",
      { input: [user("a"), reference("rs_1"), reference("fc_1"), output("1")] },
      {},
    ],
    [
      "references and an output, not stored",
      { store: false, input: [user("a"), reference("rs_1"), reference("fc_1"), output("1")] },
      {},
    ],
    [
      "a call whose output is a reference, not stored",
      { store: false, input: [user("a"), call("1"), reference("fco_1"), user("b")] },
      {},
    ],
    ["a reference whose id is too long", { input: [user("a"), reference(`rs_${"x".repeat(80)}`)] }, {}],
    [
      "references that an error names",
      { input: [user("a"), reference("rs_1"), reference("fc_1"), output("1")] },
      { error },
    ],
    [
      "thoughts by their ids",
      {
        input: [
          user("a"),
          without(thought("rs_1"), "encrypted_content"),
          call("1", { id: "fc_1" }),
          output("1"),
        ],
      },
      {},
    ],
  ])("%s", (_, body, options) => {
    expect(repaired({ model: "gpt-5", ...body }, options)).toMatchObject({
      body: { model: "gpt-5", ...body },
      rules: [],
    });
  });

  test("but mends what is in the request itself", () => {
    const input = [user("a"), reference("fc_1"), output("1"), output("1"), call("2"), user("b")];
    expect(repaired({ store: false, input }).body).toMatchObject({
      input: [...input.slice(0, 3), input[4], { call_id: "2" }, user("b")],
    });
  });
});

describe("a request is never left without what it needs", () => {
  test.each<[string, Json]>([
    ["an output alone", { store: false, input: [output("1")] }],
    ["a result alone", { model: "claude-x", max_tokens: 9, messages: [says("user", answer("a"))] }],
  ])("%s stays, in every scope", (_, body) => {
    expect(repaired(body)).toMatchObject({ body, rules: [] });
    expect(repaired(body, { scope: undefined })).toMatchObject({ body, rules: [] });
  });

  test("the last message of the user stays if the model would go on from its own answer", () => {
    const messages = [
      user("a"),
      says("assistant", { type: "text", text: "b", x: 1 }),
      says("user", answer("z")),
    ];
    const { body, rules, remaining } = repaired({ model: "claude-x", max_tokens: 9, messages });
    expect([rules, remaining]).toEqual([["M22"], ["M09"]]);
    expect((body["messages"] as readonly Json[]).at(-1)).toEqual(messages[2]);
  });

  test("a conversation whose front was cut off begins at its first message of the user", async () => {
    const live = await liveMessages();
    const { history } = live;
    const messages = await healedAtOnce(live, live.body([...history.slice(2), user("again")]), {
      rules: ["M09"],
    });
    expect(messages).toEqual([history[6], user("again")]);
  });
});

test("nothing else is done to a message that goes", () => {
  const messages = [says("assistant", use("a")), user("x")];
  const { body, rules } = repaired({ model: "claude-x", max_tokens: 9, messages });
  expect([rules, body["messages"]]).toEqual([["M16"], [user("x")]]);
});

describe("rules limits the repair", () => {
  const broken = {
    store: false,
    input: [
      thought("rs_1"),
      user("a"),
      call("1", { name: "functions.look" }),
      user("b"),
      output("9"),
      thought("rs_2", { status: "completed" }),
      said("msg_2"),
      user("c"),
    ],
  };

  test("to what it names; the rest stays as it is and is reported", () => {
    const { body, rules, remaining } = repaired(broken, { rules: ["R07"] });
    expect(body).toEqual({ ...broken, input: broken.input.toSpliced(4, 1) });
    expect([rules, remaining]).toEqual([["R07"], ["R01", "R18", "R08", "R11", "R08", "R06"]]);
  });

  test("and to nothing, if it names none", () => {
    expect(repaired(broken, { rules: [] })).toMatchObject({ body: broken, rules: [] });
  });

  test("but mends what the repair breaks", () => {
    const input = [
      user("a"),
      thought("rs_1"),
      user("b"),
      thought("rs_2"),
      without(said("msg_2"), "content"),
      user("c"),
    ];
    const { body, rules } = repaired({ store: false, input }, { rules: ["R17"] });
    expect(rules).toEqual(["R17", "R01"]);
    expect(body["input"]).toEqual([...input.slice(0, 3), user("c")]);
  });

  test("and leaves other violations of a piece that it changes", () => {
    const long = "c".repeat(70);
    const input = [
      user("a"),
      thought("rs_1"),
      call(long, { id: "call_1", name: "functions.look" }),
      without(output(long), "output"),
    ];
    const { body, rules, remaining } = repaired({ store: false, input }, { rules: ["R09"] });
    expect([rules, remaining]).toEqual([
      ["R09", "R09"],
      ["R05", "R18", "R13"],
    ]);
    expect(body).toMatchObject({
      input: [user("a"), thought("rs_1"), { id: "call_1", name: "functions.look" }, {}],
    });
  });

  test("and gives a call and the result that it adds the same id, if it must change one", () => {
    const long = "x".repeat(70);
    const asked = {
      role: "assistant",
      tool_calls: [{ id: long, type: "function", function: { name: "f", arguments: "{}" } }],
    };
    const { body } = repaired(
      { store: false, input: [user("a"), call(long), user("b")] },
      { rules: ["R06", "R07", "R08"] },
    );
    const [, made, closed] = body["input"] as readonly Json[];
    expect(made?.["call_id"]).toBe(closed?.["call_id"]);
    const chat = repaired(
      { model: "gpt-4o", messages: [user("a"), asked, user("b")] },
      { rules: ["Q01", "Q02"] },
    );
    const claude = repaired(
      { model: "claude-x", max_tokens: 9, messages: [user("a"), says("assistant", use("t.1")), user("b")] },
      { rules: ["M07", "M09"] },
    );
    expect([chat.rules, chat.remaining]).toEqual([["Q01", "Q08", "Q08"], []]);
    expect([claude.rules, claude.remaining]).toEqual([["M07", "M11", "M11"], []]);
  });

  test("and leaves other violations of a message into which it puts a result", () => {
    const messages = [
      user("a"),
      says("assistant", use("t.1", { index: 0 }), use("b")),
      { ...says("user", { type: "text", text: "b", x: 1 }), id: "msg_1" },
    ];
    const { body, rules, remaining } = repaired(
      { model: "claude-x", max_tokens: 9, messages },
      { rules: ["M07", "M11"] },
    );
    expect(new Set(rules)).toEqual(new Set(["M07", "M11"]));
    expect(remaining).toEqual(["M22", "M22", "M22"]);
    expect(body).toMatchObject({ messages: [{}, {}, { id: "msg_1", content: [{}, {}, { x: 1 }] }] });
  });

  test("and does not keep the repair that an error names from happening first", async () => {
    const live = await liveResponses();
    const { history } = live;
    const lost = [...history.slice(0, 10), ...history.slice(11)].toSpliced(4, 1);
    const error = await live.refusalOf(live.body(lost));
    expect(error).toContain("without its required 'reasoning' item");
    const { changes, text } = repairHistory(live.body(lost), { scope: "history", rules: ["R06"], error });
    expect(changes.map(({ rule }) => rule)).toEqual(["error", "R06"]);
    expect(await live.refusalOf(text)).toBeUndefined();
  });
});
