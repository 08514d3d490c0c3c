/** Live chat requests: one repair of the refused class is enough, keeps real content and leaves the rest alone. */

import { describe, expect, test } from "vitest";

import { repairHistory } from "../../src/diagnostics/check/index.ts";
import { callsOf, toolResult } from "../emulator/chat-client.ts";
import { type Json, user, without } from "../emulator/emulator-client.ts";
import { healedAtOnce, liveChat } from "./live-requests.ts";

const PAIRS = ["Q01", "Q02"];
const SCHEMA = ["Q04", "Q05", "Q06", "Q08", "Q09", "Q10", "Q11", "Q12"];

const calls = (...ids: readonly (string | undefined)[]): Json => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id, at) => ({
    id,
    type: "function",
    function: { name: "look", arguments: `{"at":${at}}` },
  })),
});
const nameless = (content: string): Json => ({ role: "tool", content });
const unknown = (id: string): Json => ({
  role: "tool",
  tool_call_id: id,
  content: expect.stringContaining("outcome unknown") as unknown,
});

function repaired(messages: readonly Json[], rules: readonly string[], model = "gpt-4o"): readonly Json[] {
  const { text } = repairHistory(JSON.stringify({ model, messages }), {
    format: "chat",
    scope: "history",
    rules,
  });
  return (JSON.parse(text) as { readonly messages: readonly Json[] }).messages;
}

const withCalls = (messages: readonly Json[], change: (call: Json) => Json): readonly Json[] =>
  messages.map((message) =>
    "tool_calls" in message ? { ...message, tool_calls: callsOf(message).map(change) } : message,
  );

describe("every violation of the class is mended at once", () => {
  test.each<[string, string, readonly string[], (messages: readonly Json[]) => readonly unknown[]]>([
    [
      "calls without answers",
      "emu-chat",
      PAIRS,
      (messages) => messages.filter(({ role }) => role !== "tool"),
    ],
    [
      "answers without calls",
      "emu-chat",
      PAIRS,
      (messages) => messages.filter((message) => !("tool_calls" in message)),
    ],
    [
      "answers behind a message of the user",
      "emu-chat",
      PAIRS,
      (messages) => messages.toSpliced(2, 0, user("wait")),
    ],
    [
      "reasoning in the field of another vendor",
      "emu-groq",
      SCHEMA,
      (messages) =>
        messages.map((message) =>
          message["role"] === "assistant"
            ? {
                ...message,
                reasoning_content: "x",
                reasoning_details: [{ type: "reasoning.text", text: "x" }],
              }
            : message,
        ),
    ],
    [
      "ids, names and arguments of another form",
      "emu-chat",
      SCHEMA,
      (messages) =>
        withCalls(
          messages.map((message) =>
            message["role"] === "tool"
              ? {
                  ...without(message, "content"),
                  tool_call_id: `${String(message["tool_call_id"])}${"x".repeat(60)}`,
                }
              : message,
          ),
          ({ id, type }) => ({
            id: `${String(id)}${"x".repeat(60)}`,
            type,
            function: { name: "functions.look", arguments: { at: 1 } },
          }),
        ),
    ],
    [
      "call ids of another vendor",
      "emu-mistral",
      SCHEMA,
      (messages) =>
        JSON.parse(
          JSON.stringify(messages).replaceAll(String(callsOf(messages[1] ?? {})[0]?.["id"]), "call_abcdefg"),
        ) as Json[],
    ],
  ])("%s", async (_, model, rules, make) => {
    const live = await liveChat(model);
    await healedAtOnce(live, live.body(make(live.history)), { rules });
  });

  test.each(["emu-deepseek", "emu-kimi"])("reasoning that %s misses", async (model) => {
    const live = await liveChat(model);
    const broken = live.body(live.history.map((message) => without(message, "reasoning_content")));
    await healedAtOnce(live, broken, { rules: ["Q03"] });
    await healedAtOnce(live, broken, { rules: [], byError: true });
  });
});

describe("a real answer is moved to its call", () => {
  test("from behind a message of the user, and from before the call", () => {
    const sound = [user("a"), calls("1"), toolResult("1", "real"), user("b")];
    expect(repaired([user("a"), calls("1"), user("b"), toolResult("1", "real")], PAIRS)).toEqual(sound);
    expect(repaired([user("a"), toolResult("1", "real"), calls("1"), user("b")], PAIRS)).toEqual(sound);
  });

  test("never to an earlier call with the same id", () => {
    const late = [calls("1"), toolResult("1", "real")];
    expect(repaired([user("a"), calls("1"), user("b"), ...late], PAIRS)).toEqual([
      user("a"),
      calls("1"),
      unknown("1"),
      user("b"),
      ...late,
    ]);
  });

  test("if two calls of a message have the same id, each keeps its own", () => {
    const [, asked, one, two] = repaired(
      [user("a"), calls("1", "1"), toolResult("1", "one"), toolResult("1", "two")],
      PAIRS,
    );
    expect([one, two]).toEqual(callsOf(asked ?? {}).map(({ id }, at) => toolResult(id, ["one", "two"][at])));
  });

  test("also if that id is too long", () => {
    const long = "x".repeat(60);
    const [, asked, one, two] = repaired(
      [user("a"), calls(long, long), toolResult(long, "one"), toolResult(long, "two")],
      [...PAIRS, "Q08"],
    );
    expect([one, two]).toEqual(callsOf(asked ?? {}).map(({ id }, at) => toolResult(id, ["one", "two"][at])));
  });

  test("a call that gets another id is closed with that id, in one round", () => {
    const text = JSON.stringify({ model: "gpt-4o", messages: [user("a"), calls("x".repeat(60)), user("b")] });
    const { changes } = repairHistory(text, { scope: "history", rules: [...PAIRS, "Q08"] });
    expect(changes.map(({ rule }) => rule)).toEqual(["Q08", "Q01"]);
  });

  test("missing ids are matched message by message, not across a lost answer", () => {
    const messages = repaired(
      [
        user("a"),
        calls(undefined, undefined),
        nameless("one"),
        user("b"),
        calls(undefined),
        nameless("three"),
      ],
      [...PAIRS, "Q08"],
    );
    expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      "one",
      expect.stringContaining("outcome unknown"),
      "three",
    ]);
    expect(messages.at(-1)?.["tool_call_id"]).toBe(callsOf(messages.at(-2) ?? {})[0]?.["id"]);
  });
});

test("a call that Mistral lets nobody close without words of ours is left out", async () => {
  const live = await liveChat("emu-mistral");
  const broken = [...live.history.slice(0, 2), user("stop")];
  const messages = await healedAtOnce(live, live.body(broken), { rules: PAIRS });
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(messages[1]).toEqual(without(live.history[1], "tool_calls"));
});

test("the vendor's own reasoning stays where another field goes", () => {
  const message = { role: "assistant", content: "x", reasoning: "own", reasoning_content: "foreign" };
  const { text, changes } = repairHistory(
    JSON.stringify({ model: "groq/x", messages: [user("a"), message, user("b")] }),
  );
  expect(JSON.parse(text)).toMatchObject({ messages: [{}, { reasoning: "own" }, {}] });
  expect(changes.map(({ what }) => what)).toEqual(["removed reasoning_content"]);
});

test.each<[string, Json]>([
  ["a refusal", { refusal: "I cannot." }],
  ["a recording", { audio: { id: "audio_1" } }],
])("a message with %s instead of content is left alone", (_, more) => {
  const messages = [user("a"), { role: "assistant", content: null, ...more }, user("b")];
  expect(repaired(messages, SCHEMA)).toEqual(messages);
});

describe("the error of the API", () => {
  test("that reasoning is missing keeps the reasoning that is there", () => {
    const kept = { ...calls("1"), reasoning_content: "kept" };
    const messages = [user("a"), kept, toolResult("1"), calls("2"), toolResult("2")];
    const { text } = repairHistory(JSON.stringify({ model: "deepseek-v4", messages }), {
      scope: "history",
      rules: [],
      error: "The `reasoning_content` in the thinking mode must be passed back to the API.",
    });
    expect(JSON.parse(text)).toEqual({ model: "deepseek-v4", messages, thinking: { type: "disabled" } });
  });

  test("about a field takes that field out of every message, and no other", () => {
    const message = { role: "assistant", content: "x", reasoning: "a", reasoning_content: "b" };
    const { text } = repairHistory(
      JSON.stringify({ model: "m", messages: [user("a"), message, user("b"), message, user("c")] }),
      {
        format: "chat",
        error:
          "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
      },
    );
    expect(text).not.toContain("reasoning_content");
    expect(text.match(/"reasoning":"a"/g)).toHaveLength(2);
  });

  test("about a parameter changes nothing", () => {
    const text = JSON.stringify({
      model: "m",
      messages: [user("a"), { role: "assistant", content: "x", reasoning: "a" }, user("b")],
    });
    for (const error of [
      "Unknown parameter: 'reasoning'.",
      "thinking is not supported",
      "reasoning_effort is unsupported",
    ])
      expect(repairHistory(text, { format: "chat", error })).toMatchObject({ text, changes: [] });
  });
});
