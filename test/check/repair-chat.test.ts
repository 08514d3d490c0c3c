/**
 * Broken chat histories, per vendor: the strict emulator refuses them as they are and accepts them once repaired; a
 * repaired one is left alone, and so is a healthy one.
 */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { checkHistory, repairHistory } from "../../src/diagnostics/check/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { CHAT_RULES } from "../../src/runtime/rules/index.ts";
import { callsOf, chat, messageOf, resultsOf, twoCalls, user } from "../emulator/chat-client.ts";
import { type Json, scripted, without } from "../emulator/emulator-client.ts";
import { runs, timeoutFor } from "../support/runs.ts";

const MODELS = ["emu-chat", "emu-deepseek", "emu-kimi", "emu-mistral", "emu-groq", "emu-router"] as const;
type Model = (typeof MODELS)[number];

const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
const body = (model: Model, messages: readonly unknown[]): Json => ({ model, tools: TOOLS, messages });

/** user, [two calls], tool, tool, [answer], user */
async function healthy(
  model: Model,
): Promise<{ readonly emulator: Emulator; readonly messages: readonly Json[] }> {
  const emulator = await scripted(twoCalls);
  const messages: Json[] = [user("go")];
  for (let step = 0; step < 2; step += 1) {
    const reply = await chat(emulator, body(model, messages));
    expect([reply.status, reply.text]).toEqual([200, reply.text]);
    const answer = sentBack(messageOf(reply));
    messages.push(answer, ...(step === 0 ? resultsOf(answer) : [user("more")]));
  }
  return { emulator, messages };
}

/** The message without its output-only fields. */
function sentBack(message: Json): Json {
  return Object.fromEntries(
    Object.entries(message).filter(
      ([key, value]) => !["refusal", "annotations"].includes(key) && value !== undefined,
    ),
  );
}

async function refusalOf(emulator: Emulator, text: string): Promise<string | undefined> {
  const reply = await chat(emulator, text);
  return reply.status === 200 ? undefined : reply.text;
}

const at =
  (index: number, change: (message: Json) => Json) =>
  (messages: readonly Json[]): readonly Json[] =>
    messages.map((message, one) => (one === index ? change(message) : message));
const gone =
  (...indexes: readonly number[]) =>
  (messages: readonly Json[]): readonly Json[] =>
    messages.filter((_, one) => !indexes.includes(one));
const idOf = (messages: readonly Json[], call: number): string =>
  String(callsOf(messages[1] ?? {})[call]?.["id"]);
const renamedTo =
  (id: string) =>
  (messages: readonly Json[]): readonly Json[] =>
    JSON.parse(JSON.stringify(messages).replaceAll(idOf(messages, 0), id)) as readonly Json[];
const withCall =
  (change: (call: Json) => Json) =>
  (messages: readonly Json[]): readonly Json[] =>
    at(1, (message) => ({
      ...message,
      tool_calls: callsOf(message).map((call, one) => (one === 0 ? change(call) : call)),
    }))(messages);

const called = (name: string): ((messages: readonly Json[]) => readonly Json[]) =>
  withCall((call) => ({ ...call, function: { ...(call["function"] as Json), name } }));

interface Case {
  readonly rule: string;
  readonly model: Model;
  readonly make: (messages: readonly Json[]) => readonly unknown[];
}

const VISIBLE: Readonly<Record<string, Case>> = {
  "T01 no answer to a call": { rule: "Q01", model: "emu-chat", make: gone(2) },
  "T01 no answers at all": { rule: "Q01", model: "emu-groq", make: gone(2, 3) },
  "T03 the user speaks in between": {
    rule: "Q01",
    model: "emu-chat",
    make: (messages) => [...messages.slice(0, 2), user("wait"), ...messages.slice(2)],
  },
  "T02 an answer without its call": { rule: "Q02", model: "emu-chat", make: gone(1) },
  "T10 two answers": {
    rule: "Q02",
    model: "emu-chat",
    make: (messages) => [...messages.slice(0, 3), messages[2], ...messages.slice(3)],
  },
  "V01 Kimi misses its reasoning": {
    rule: "Q03",
    model: "emu-kimi",
    make: at(1, (message) => without(message, "reasoning_content")),
  },
  "V02 DeepSeek misses its reasoning": {
    rule: "Q03",
    model: "emu-deepseek",
    make: at(1, (message) => without(message, "reasoning_content")),
  },
  "V04 Mistral is given reasoning_content": {
    rule: "Q04",
    model: "emu-mistral",
    make: at(4, (message) => ({ ...message, reasoning_content: "hm" })),
  },
  "V05 Groq is given reasoning_content": {
    rule: "Q04",
    model: "emu-groq",
    make: at(4, (message) => ({ ...message, reasoning_content: "hm" })),
  },
  "V06 OpenAI is given reasoning_content": {
    rule: "Q04",
    model: "emu-chat",
    make: at(4, (message) => ({ ...message, reasoning_content: "hm" })),
  },
  "V08 the same entry of reasoning_details twice": {
    rule: "Q06",
    model: "emu-router",
    make: (messages) =>
      at(4, (message) => ({ ...message, reasoning_details: messages[1]?.["reasoning_details"] }))(messages),
  },
  "3230 the user after a tool": { rule: "Q07", model: "emu-mistral", make: gone(4) },
  "T05 a call id that is too long": { rule: "Q08", model: "emu-chat", make: renamedTo("x".repeat(50)) },
  "3280 a foreign call id": { rule: "Q08", model: "emu-mistral", make: renamedTo("call_abcdefghijkl") },
  "S06 an assistant message that says nothing": {
    rule: "Q09",
    model: "emu-chat",
    make: (messages) => [...messages, { role: "assistant", content: null }, user("x")],
  },
  "an empty list of calls": {
    rule: "Q09",
    model: "emu-chat",
    make: at(4, (message) => ({ ...message, tool_calls: [] })),
  },
  "T09 no content": { rule: "Q09", model: "emu-chat", make: at(2, (message) => without(message, "content")) },
  "an unknown role": {
    rule: "Q10",
    model: "emu-chat",
    make: (messages) => [...messages, { role: "bot", content: "x" }, user("x")],
  },
  "arguments as an object": {
    rule: "Q11",
    model: "emu-chat",
    make: withCall((call) => ({ ...call, function: { name: "look", arguments: { at: "one" } } })),
  },
  ...Object.fromEntries(
    MODELS.map((model): [string, Case] => [
      `T15 a name with a dot on ${model}`,
      { rule: "Q12", model, make: called("functions.look") },
    ]),
  ),
  "T15 the name of a custom tool with a dot": {
    rule: "Q12",
    model: "emu-chat",
    make: withCall(({ id }) => ({ id, type: "custom", custom: { name: "functions.look", input: "x" } })),
  },
  "T15 a name that is too long": { rule: "Q12", model: "emu-chat", make: called("x".repeat(65)) },
  "T15 an empty name": { rule: "Q12", model: "emu-chat", make: called("") },
  "T15 a name with a dot in the answer": {
    rule: "Q12",
    model: "emu-chat",
    make: at(2, (message) => ({ ...message, name: "functions.look" })),
  },
};

test.each(MODELS)("a healthy history of %s is left byte for byte", async (model) => {
  const { emulator, messages } = await healthy(model);
  for (const space of [undefined, 2]) {
    const text = JSON.stringify(body(model, messages), undefined, space);
    expect(repairHistory(text)).toEqual({
      format: "chat",
      dialect: "openai-chat",
      text,
      changes: [],
      remaining: [],
    });
    expect(await refusalOf(emulator, text)).toBeUndefined();
  }
});

test("every rule that a request alone can break is broken here", () => {
  const told = ["Q05"]; // by the renderer
  const rules = CHAT_RULES.map(({ id }) => id).filter((id) => !told.includes(id));
  expect([...new Set(Object.values(VISIBLE).map(({ rule }) => rule))].toSorted()).toEqual(rules.toSorted());
});

describe("a break that the rules see", () => {
  test.each(Object.entries(VISIBLE))("%s", async (_, { rule, model, make }) => {
    const { emulator, messages } = await healthy(model);
    const broken = JSON.stringify(body(model, make(messages)), undefined, 2);
    expect(checkHistory(broken).findings.map((finding) => finding.rule)).toContain(rule);
    expect(await refusalOf(emulator, broken)).toBeDefined();
    const repaired = repairHistory(broken);
    expect(repaired.remaining).toEqual([]);
    expect(repaired.changes).not.toEqual([]);
    expect(await refusalOf(emulator, repaired.text)).toBeUndefined();
    expect(repairHistory(repaired.text)).toMatchObject({ text: repaired.text, changes: [] });
  });
});

test("missing reasoning cannot be made up: without a head in which to switch thinking off, the finding stays", async () => {
  const { messages } = await healthy("emu-kimi");
  const text = JSON.stringify(messages.map((message) => without(message, "reasoning_content")));
  const { changes, remaining, text: after } = repairHistory(text, { vendor: "kimi" });
  expect([changes, remaining.map(({ rule }) => rule), after]).toEqual([[], ["Q03"], text]);
});

const mishap = fc.record({
  kind: fc.constantFrom("drop", "double", "swap", "cut", "strip"),
  at: fc.nat(20),
  to: fc.nat(20),
  field: fc.constantFrom(
    "content",
    "tool_calls",
    "tool_call_id",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
  ),
});
type Mishap = typeof mishap extends fc.Arbitrary<infer T> ? T : never;

function suffer(messages: readonly Json[], mishaps: readonly Mishap[]): readonly Json[] {
  const list = [...messages];
  for (const { kind, at: where, to, field } of mishaps) {
    const index = where % Math.max(list.length, 1);
    const message = list[index];
    if (message === undefined) continue;
    const other = to % list.length;
    if (kind === "drop") list.splice(index, 1);
    else if (kind === "double") list.splice(index, 0, message);
    else if (kind === "cut") list.splice(index + 1);
    else if (kind === "strip") list[index] = without(message, field);
    else [list[index], list[other]] = [list[other] ?? message, message];
  }
  return list;
}

test.each(MODELS)(
  "whatever happened to a history of %s, once repaired it is accepted and stays unchanged",
  async (model) => {
    const { emulator, messages } = await healthy(model);
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { minLength: 1, maxLength: 5 }), async (mishaps) => {
        const broken = JSON.stringify(body(model, [...suffer(messages, mishaps), user("last")]));
        const { text, remaining } = repairHistory(broken);
        expect([remaining, await refusalOf(emulator, text)]).toEqual([[], undefined]);
        expect(repairHistory(text)).toMatchObject({ text, changes: [] });
      }),
      runs(12),
    );
  },
  timeoutFor(12),
);
