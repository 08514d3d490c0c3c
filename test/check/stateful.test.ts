/**
 * Requests that rely on server state (`store` is on unless a request says otherwise): the official clients' default
 * requests are found sound and left byte for byte, everything that can still be judged is judged, and a note names the
 * rest.
 */

import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import { checkHistory, repairHistory } from "../../src/diagnostics/check/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { emulatorFor, type Json, post } from "../emulator/emulator-client.ts";

const clientOf = (emulator: Emulator): OpenAI =>
  new OpenAI({ baseURL: emulator.baseUrl, apiKey: "sk-test", maxRetries: 0 });

const TOOLS: OpenAI.Responses.Tool[] = [
  {
    type: "function",
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    strict: false,
  },
];
const ASK = { model: "emu-reasoner", tools: TOOLS } as const;

const lastRequest = (emulator: Emulator): string => emulator.exchanges.at(-1)?.requestText ?? "";

function outputsFor(
  output: readonly OpenAI.Responses.ResponseOutputItem[],
): OpenAI.Responses.ResponseInputItem.FunctionCallOutput[] {
  return output.flatMap((item) =>
    item.type === "function_call"
      ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "sunny" }]
      : [],
  );
}

/** Nothing found, nothing changed, and a note that says what was not checked. */
function soundAndUntouched(text: string, notes: readonly unknown[]): void {
  expect(checkHistory(text)).toMatchObject({ findings: [], notes });
  expect(repairHistory(text)).toEqual({
    format: "responses",
    dialect: "openai-responses",
    text,
    changes: [],
    remaining: [],
    notes,
  });
}

const FRONT = (name: string): string =>
  `the earlier conversation is on the server (${name}); not checked: whether every call in it has its result here (R06, R07)`;
const NAMED =
  "items are sent by id alone, which is allowed because `store` is not false in this request; not checked: whether the server has them (R02, R03, R14)";

describe("the official client with its defaults", () => {
  test("sends a chain of responses: outputs alone, and then a text", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const one = await client.responses.create({ ...ASK, input: "What is the weather in Paris?" });
    soundAndUntouchedPlain(lastRequest(emulator));
    const input = outputsFor(one.output);
    expect(input).toHaveLength(1);
    const two = await client.responses.create({ ...ASK, previous_response_id: one.id, input });
    soundAndUntouched(lastRequest(emulator), [FRONT("previous_response_id")]);
    await client.responses.create({ ...ASK, previous_response_id: two.id, input: "And Rome?" });
    soundAndUntouched(lastRequest(emulator), [FRONT("previous_response_id")]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("sends the whole conversation, with reasoning by its id alone", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { role: "user", content: "What is the weather in Paris?" },
    ];
    const { output } = await client.responses.create({ ...ASK, input });
    // Payloads arrive only on request.
    const bare = output.map((item) => ({ ...item, encrypted_content: undefined }));
    input.push(...(bare as OpenAI.Responses.ResponseInputItem[]), ...outputsFor(output));
    await client.responses.create({ ...ASK, input });
    soundAndUntouched(lastRequest(emulator), [NAMED]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("sends the whole conversation by reference", async () => {
    const emulator = await emulatorFor();
    const client = clientOf(emulator);
    const asked = { role: "user", content: "What is the weather in Paris?" } as const;
    const { output } = await client.responses.create({ ...ASK, input: [asked] });
    const references = output.map(({ id = "" }) => ({ type: "item_reference" as const, id }));
    await client.responses.create({ ...ASK, input: [asked, ...references, ...outputsFor(output)] });
    soundAndUntouched(lastRequest(emulator), [NAMED]);
    expect(emulator.report().totals.refused).toBe(0);
  });
});

function soundAndUntouchedPlain(text: string): void {
  expect(checkHistory(text).findings).toEqual([]);
  expect(checkHistory(text).notes).toBeUndefined();
  expect(repairHistory(text)).toMatchObject({ text, changes: [], remaining: [] });
}

describe("the AI SDK with its defaults", () => {
  const weather = tool({
    description: "Weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => Promise.resolve(`sunny in ${city}`),
  });

  test("sends a reference to a thought, then its call without an id", async () => {
    const emulator = await emulatorFor();
    await generateText({
      model: createOpenAI({ baseURL: emulator.baseUrl, apiKey: "sk-test" }).responses("emu-reasoner"),
      prompt: "What is the weather in Paris?",
      tools: { get_weather: weather },
      stopWhen: stepCountIs(2),
      maxRetries: 0,
      providerOptions: { openai: { forceReasoning: true } },
    }).catch(() => undefined); // the server's answer to it is another matter
    const text = lastRequest(emulator);
    const { input, store } = JSON.parse(text) as { input: readonly Json[]; store?: boolean };
    expect(store).toBeUndefined();
    expect(input.map((item) => item["type"] ?? item["role"])).toEqual([
      "user",
      "item_reference",
      "function_call",
      "function_call_output",
    ]);
    expect(input[2]).not.toHaveProperty("id");
    soundAndUntouched(text, [NAMED]);
  });
});

const user = { role: "user", content: "Weather?" };
const call = { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" };
const output = { type: "function_call_output", call_id: "call_1", output: "sunny" };
const ref = (id: string): Json => ({ type: "item_reference", id });

describe("other requests that rely on server state", () => {
  test.each<[string, Json, readonly string[]]>([
    ["a conversation by its id", { conversation: "conv_1", input: [output] }, [FRONT("conversation")]],
    ["a conversation as an object", { conversation: { id: "c" }, input: "Hi." }, [FRONT("conversation")]],
    ["no input at all", { previous_response_id: "resp_1" }, [FRONT("previous_response_id")]],
    ["an empty input", { previous_response_id: "resp_1", input: [] }, [FRONT("previous_response_id")]],
    [
      "an answer to an approval request",
      {
        previous_response_id: "resp_1",
        input: [{ type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true }],
      },
      [FRONT("previous_response_id")],
    ],
    [
      "a custom tool's output",
      {
        previous_response_id: "resp_1",
        input: [{ type: "custom_tool_call_output", call_id: "call_1", output: "ok" }],
      },
      [FRONT("previous_response_id")],
    ],
    [
      "parameters that a repair of a whole conversation would touch",
      { previous_response_id: "resp_1", tool_choice: "required", max_output_tokens: 16, input: [output] },
      [FRONT("previous_response_id")],
    ],
    ["store set to true", { store: true, input: [user, ref("rs_1"), call, output] }, [NAMED]],
    ["store null", { store: null, input: [user, ref("rs_1"), call, output] }, [NAMED]],
    ["calls by reference", { input: [user, ref("rs_1"), ref("fc_1"), output] }, [NAMED]],
    ["an id that reveals nothing", { input: [user, ref("item-7"), output] }, [NAMED]],
    ["an output by reference", { input: [user, call, ref("fco_1"), user] }, [NAMED]],
    ["an answer by reference at the end", { input: [user, ref("rs_1"), ref("msg_1")] }, [NAMED]],
  ])("%s is sound and left unchanged", (_, request, notes) => {
    soundAndUntouched(JSON.stringify({ model: "gpt-5", ...request }, undefined, 2), notes);
  });

  test("an array alone may be of either kind: references in it are left, with a note", () => {
    const text = JSON.stringify([user, ref("rs_1"), call, output]);
    soundAndUntouched(text, [
      NAMED.replace("because `store` is not false in this request", "if `store` is not false"),
    ]);
  });
});

describe("a request that relies on server state is still checked for", () => {
  const chained = { model: "gpt-5", previous_response_id: "resp_1" };
  test.each<[string, Json, readonly string[]]>([
    ["a second output of one call", { ...chained, input: [output, output] }, ["R07"]],
    ["a second output of a call that is present", { ...chained, input: [call, output, output] }, ["R07"]],
    ["a call without an output", { model: "gpt-5", input: [user, ref("rs_1"), call] }, ["R06"]],
    ["an output without a call anywhere", { model: "gpt-5", input: [user, ref("rs_1"), output] }, ["R07"]],
    ["an output without its field", { ...chained, input: [{ ...output, output: undefined }] }, ["R13"]],
    ["a name with a dot", { ...chained, input: [{ ...call, name: "functions.weather" }, output] }, ["R18"]],
    [
      "a reference whose id is too long",
      { model: "gpt-5", input: [user, ref(`rs_${"x".repeat(80)}`)] },
      ["R05"],
    ],
    [
      "reasoning before the next user message",
      { model: "gpt-5", input: [user, { type: "reasoning", id: "rs_1", summary: [] }, user] },
      ["R01"],
    ],
  ])("%s", (_, request, rules) => {
    const text = JSON.stringify(request);
    expect(checkHistory(text).findings.map(({ rule }) => rule)).toEqual(rules);
    const repaired = repairHistory(text);
    expect(repaired.remaining).toEqual([]);
    const { input: _before, ...head } = request;
    const { input, ...after } = JSON.parse(repaired.text) as Json;
    expect(after).toEqual(head);
    expect(input).not.toEqual([]);
  });

  test("an output id that cannot be sent, which is reported and left because the server knows it", () => {
    const text = JSON.stringify({ ...chained, input: [{ ...output, call_id: "c".repeat(65) }] });
    const { changes, remaining, text: after } = repairHistory(text);
    expect([changes, remaining.map(({ rule }) => rule), after]).toEqual([[], ["R09"], text]);
  });
});

describe("if `store` is false", () => {
  const stateless = { model: "gpt-5", store: false };
  test("a chain is reported, and nothing that depends on it is removed", () => {
    const text = JSON.stringify({ ...stateless, previous_response_id: "resp_1", input: [output] });
    expect(checkHistory(text).findings.map(({ rule }) => rule)).toEqual(["R14"]);
    const { changes, remaining, text: after } = repairHistory(text);
    expect([changes, remaining.map(({ rule }) => rule), after]).toEqual([[], ["R14"], text]);
  });

  test("references and thoughts without a payload are refused and removed", () => {
    const thought = { type: "reasoning", id: "rs_2", summary: [] };
    const text = JSON.stringify({
      ...stateless,
      input: [user, ref("rs_1"), call, output, thought, call, output],
    });
    expect(checkHistory(text).findings.map(({ rule }) => rule)).toEqual(["R14", "R03"]);
    expect((JSON.parse(repairHistory(text).text) as Json)["input"]).toEqual([
      user,
      call,
      output,
      call,
      output,
    ]);
  });
});

const thoughtPart = (itemId: string, payload: string | null): Json => ({
  type: "reasoning",
  text: "Hm.",
  providerOptions: { openai: { itemId, reasoningEncryptedContent: payload } },
});

const toldBy = (...payloads: readonly (string | null)[]): string =>
  JSON.stringify(
    payloads.flatMap((payload, n) => [
      { role: "user", content: "Hi." },
      { role: "assistant", content: [thoughtPart(`rs_${n}`, payload), { type: "text", text: "Hello." }] },
    ]),
  );

test("a file stored without payloads relies on the server; if one thought has a payload, all need theirs", () => {
  const stored = toldBy(null, null);
  expect(checkHistory(stored)).toMatchObject({ format: "ai-sdk-model", findings: [], notes: [{}] });
  expect(repairHistory(stored)).toMatchObject({ text: stored, changes: [] });
  expect(checkHistory(toldBy("gAAA", null)).findings.map(({ rule }) => rule)).toEqual(["R03"]);
});

test("a continued thread keeps its results alone: nothing is added and no parameter is touched", () => {
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: "sunny" };
  const messages = [{ role: "user", content: [result] }];
  const body = { model: "claude-x", thread: { type: "continue", id: "thread_1" }, messages };
  const text = JSON.stringify({ ...body, max_tokens: 10 });
  expect(checkHistory(text)).toMatchObject({
    format: "messages",
    findings: [],
    notes: [expect.stringContaining("thread")],
  });
  expect(repairHistory(text)).toMatchObject({ text, changes: [], remaining: [] });
  const wrong = JSON.stringify({
    ...body,
    thinking: { type: "enabled", budget_tokens: 2048 },
    tool_choice: { type: "any" },
    messages: [...messages, { role: "assistant", content: "Well" }],
  });
  const { changes, remaining, text: after } = repairHistory(wrong);
  expect([changes, remaining.map(({ rule }) => rule).toSorted(), after]).toEqual([
    [],
    ["M02", "M10", "M19", "M20"],
    wrong,
  ]);
});

test("the server accepts what is found sound: a reference to a thought, then its call with an id or by reference", async () => {
  const emulator = await emulatorFor();
  const first = await post(emulator, {
    ...ASK,
    input: [{ role: "user", content: "What is the weather in Paris?" }],
  });
  const [thought, made] = first.json["output"] as [Json, Json];
  const answer = { ...output, call_id: made["call_id"] };
  for (const follower of [made, ref(String(made["id"]))]) {
    const input = [
      { role: "user", content: "What is the weather in Paris?" },
      ref(String(thought["id"])),
      follower,
      answer,
    ];
    const text = JSON.stringify({ ...ASK, input });
    soundAndUntouched(text, [NAMED]);
    expect((await post(emulator, text)).status).toBe(200);
  }
});
