/**
 * Broken Anthropic histories: the strict emulator refuses them as they are and accepts them once repaired; a repaired
 * one is left alone, and so is a healthy one.
 */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { checkHistory, repairHistory } from "../../src/diagnostics/check/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { MESSAGES_RULES } from "../../src/runtime/rules/index.ts";
import { errorOf, type Json, post, scripted, without } from "../emulator/emulator-client.ts";
import { runs, timeoutFor } from "../support/runs.ts";

const SCRIPT = `
steps:
  - output:
      - reasoning: "I look at both places."
      - function_call: {name: look, arguments: {at: one}}
      - function_call: {name: look, arguments: {at: two}}
  - output:
      - reasoning: "One more."
      - message: {text: "Half way."}
      - function_call: {name: look, arguments: {at: three}}
  - output:
      - reasoning: "Done."
      - message: {text: "All done."}
afterwards: repeat
`;

const TOOLS = [{ name: "look", description: "Looks.", input_schema: { type: "object" } }];
const ADAPTIVE = { model: "emu-claude", max_tokens: 4096, thinking: { type: "adaptive" }, tools: TOOLS };
const ENABLED = { ...ADAPTIVE, thinking: { type: "enabled", budget_tokens: 2048 } };
const HEADERS = { "x-api-key": "sk-test", "anthropic-version": "2023-06-01" };

const user = (...content: readonly Json[]): Json => ({
  role: "user",
  content: content.length === 0 ? "go" : content,
});
const blocks = (message: Json | undefined): Json[] => (message?.["content"] ?? []) as Json[];
const resultsFor = (message: Json): Json =>
  user(
    ...blocks(message)
      .filter(({ type }) => type === "tool_use")
      .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done" })),
  );

/** user, [think use use], [result result], [think text use], [result], [think text], user */
async function healthy(
  head: Json = ADAPTIVE,
): Promise<{ readonly emulator: Emulator; readonly messages: readonly Json[] }> {
  const emulator = await scripted(SCRIPT);
  const messages: Json[] = [user()];
  for (let step = 0; step < 3; step += 1) {
    const reply = await post(emulator, { ...head, messages }, HEADERS, "/messages");
    expect([reply.status, reply.json["error"]]).toEqual([200, undefined]);
    const answer: Json = { role: "assistant", content: reply.json["content"] };
    messages.push(answer, step < 2 ? resultsFor(answer) : user());
  }
  return { emulator, messages };
}

async function refusalOf(emulator: Emulator, text: string): Promise<string | undefined> {
  const value: unknown = JSON.parse(text);
  const reply = await post(
    emulator,
    Array.isArray(value) ? { ...ADAPTIVE, messages: value } : value,
    HEADERS,
    "/messages",
  );
  return reply.status === 200 ? undefined : String(errorOf(reply)["message"]);
}

async function accepted(emulator: Emulator, broken: string): Promise<string> {
  let { text } = repairHistory(broken, { format: "messages" });
  for (let round = 0; round < 20; round += 1) {
    const error = await refusalOf(emulator, text);
    if (error === undefined) return text;
    text = repairHistory(text, { format: "messages", error }).text;
  }
  throw new Error(`still refused: ${String(await refusalOf(emulator, text))}`);
}

type Break = (messages: readonly Json[]) => Json;
const body = (messages: readonly unknown[], head: Json = ADAPTIVE): Json => ({ ...head, messages });
const at =
  (index: number, change: (blocks: readonly Json[]) => readonly Json[], head?: Json): Break =>
  (messages) =>
    body(
      messages.map((message, one) =>
        one === index ? { ...message, content: change(blocks(message)) } : message,
      ),
      head,
    );
const part =
  (n: number, change: (block: Json) => Json) =>
  (list: readonly Json[]): readonly Json[] =>
    list.map((block, one) => (one === n ? change(block) : block));
const gone =
  (...indexes: readonly number[]): Break =>
  (messages) =>
    body(messages.filter((_, one) => !indexes.includes(one)));

/** The rule that sees it, and the break. */
const VISIBLE: Readonly<Record<string, readonly [rule: string, Break]>> = {
  "C05 thinking is the last block": ["M01", at(5, (list) => list.slice(0, 1))],
  "C02 an open loop without its thinking": [
    "M02",
    (messages) => at(1, (list) => list.slice(1), ENABLED)(messages.slice(0, 3)),
  ],
  "C03 an empty signature": [
    "M03",
    at(
      1,
      part(0, (block) => ({ ...block, signature: "" })),
    ),
  ],
  "C03 no signature": [
    "M03",
    at(
      3,
      part(0, (block) => without(block, "signature")),
    ),
  ],
  "C06 thinking is disabled": [
    "M06",
    (messages) => body(messages.slice(0, 3), { ...ADAPTIVE, thinking: { type: "disabled" } }),
  ],
  ...Object.fromEntries(
    ["functions.look", "look up", "", "ls -l ".repeat(40), "x".repeat(129)].map(
      (name): [string, readonly [string, Break]] => [
        `T15 a call to ${JSON.stringify(name)}`,
        [
          "M25",
          at(
            1,
            part(1, (block) => ({ ...block, name })),
          ),
        ],
      ],
    ),
  ),
  "C07 a result is missing": ["M07", at(2, (list) => list.slice(1))],
  "C07 all results are missing": ["M07", gone(2)],
  "C07 a text before the results": ["M08", at(2, (list) => [{ type: "text", text: "well" }, ...list])],
  "C07 a result without its call": ["M09", at(3, (list) => list.slice(0, 2))],
  "C08 the assistant speaks last": ["M10", (messages) => body(messages.slice(0, -1))],
  "C09 a foreign tool id": [
    "M11",
    (messages) =>
      JSON.parse(
        JSON.stringify(body(messages)).replaceAll(String(blocks(messages[3])[2]?.["id"]), "f.look:0"),
      ) as Json,
  ],
  "T07 a reused id": [
    "M12",
    (messages) =>
      JSON.parse(
        JSON.stringify(body(messages)).replaceAll(
          String(blocks(messages[3])[2]?.["id"]),
          String(blocks(messages[1])[1]?.["id"]),
        ),
      ) as Json,
  ],
  "T10 two results": ["M13", at(2, (list) => [...list, list[0] as Json])],
  "S06 an empty text": ["M14", at(5, (list) => [...list, { type: "text", text: "" }])],
  "S06 an empty message": [
    "M15",
    (messages) => body([user(), { role: "assistant", content: [] }, ...messages]),
  ],
  "H01 the beginning is missing": ["M16", (messages) => body(messages.slice(5))],
  "S14 the role tool": ["M17", (messages) => body([...messages, { role: "tool", content: "x" }, user()])],
  "S14 a call by the user": [
    "M18",
    (messages) =>
      body([
        ...messages,
        user({ type: "tool_use", id: "toolu_x", name: "look", input: {} }, { type: "text", text: "x" }),
      ]),
  ],
  "no max_tokens": ["M19", (messages) => without(body(messages), "max_tokens")],
  "R03 a budget above max_tokens": ["M19", (messages) => body(messages, { ...ENABLED, max_tokens: 2048 })],
  "R03 a budget that is too small": [
    "M19",
    (messages) => body(messages, { ...ENABLED, thinking: { type: "enabled", budget_tokens: 100 } }),
  ],
  "C13 a forced tool": ["M20", (messages) => body(messages, { ...ENABLED, tool_choice: { type: "any" } })],
  "five breakpoints": [
    "M21",
    (messages) =>
      body([
        ...messages.slice(0, -1),
        user(
          ...[1, 2, 3, 4, 5].map((n) => ({
            type: "text",
            text: `${n}`,
            cache_control: { type: "ephemeral" },
          })),
        ),
      ]),
  ],
  "S03 an unknown field": [
    "M22",
    at(
      1,
      part(1, (block) => ({ ...block, index: 0 })),
    ),
  ],
  "S03 an id on a message": [
    "M22",
    (messages) => body(messages.map((message) => ({ ...message, id: "msg_1" }))),
  ],
  "T11 arguments as text": [
    "M23",
    at(
      3,
      part(2, (block) => ({ ...block, input: '{"at":"three"}' })),
    ),
  ],
  "C19 an unfinished search": [
    "M24",
    at(5, (list) => [
      ...list,
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
    ]),
  ],
  "C19 a result without its search": [
    "M24",
    at(5, (list) => [...list, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }]),
  ],
  "T11 arguments that were cut off": [
    "M23",
    at(
      3,
      part(2, (block) => ({ ...block, input: '{"at":"thr' })),
    ),
  ],
};

/** Only the API can see these, and its error says so. */
const INVISIBLE: Readonly<Record<string, Break>> = {
  "C01 a changed thought": at(
    5,
    part(0, (block) => ({ ...block, thinking: "Something else." })),
  ),
  "C03 a made-up signature": at(
    5,
    part(0, (block) => ({ ...block, signature: "c2lnbmF0dXJl" })),
  ),
};

test("a healthy history is left byte for byte", async () => {
  const { emulator, messages } = await healthy();
  for (const value of [messages, messages.slice(0, -1), body(messages), body(messages.slice(0, 3))]) {
    for (const space of [undefined, 2]) {
      const text = `${JSON.stringify(value, undefined, space)}\n`;
      expect(repairHistory(text)).toEqual({
        format: "messages",
        dialect: "anthropic-messages",
        text,
        changes: [],
        remaining: [],
      });
    }
  }
  expect(await refusalOf(emulator, JSON.stringify(body(messages)))).toBeUndefined();
});

test("every rule that a request alone can break is broken here", () => {
  const told = ["M04", "M05"]; // by the renderer
  const rules = MESSAGES_RULES.map(({ id }) => id).filter((id) => !told.includes(id));
  expect([...new Set(Object.values(VISIBLE).map(([rule]) => rule))].toSorted()).toEqual(rules.toSorted());
});

describe("a break that the rules see", () => {
  test.each(Object.entries(VISIBLE))("%s", async (_, [rule, make]) => {
    const { emulator, messages } = await healthy();
    const broken = JSON.stringify(make(messages), undefined, 2);
    expect(checkHistory(broken).findings.map((finding) => finding.rule)).toContain(rule);
    expect(await refusalOf(emulator, broken)).toBeDefined();
    const repaired = repairHistory(broken);
    expect(repaired.remaining).toEqual([]);
    expect(repaired.changes).not.toEqual([]);
    expect(await refusalOf(emulator, repaired.text)).toBeUndefined();
    expect(repairHistory(repaired.text)).toMatchObject({ text: repaired.text, changes: [] });
  });
});

describe("a break that only the API sees", () => {
  test.each(Object.entries(INVISIBLE))("%s", async (_, make) => {
    const { emulator, messages } = await healthy();
    const broken = JSON.stringify(make(messages));
    const error = await refusalOf(emulator, broken);
    expect(error).toBeDefined();
    const repaired = repairHistory(broken, { error: error ?? "" });
    expect(repaired.changes).not.toEqual([]);
    expect(await refusalOf(emulator, repaired.text)).toBeUndefined();
  });

  test("C04 a changed prefix on a model that binds its thinking", async () => {
    const head = { ...ADAPTIVE, model: "emu-claude-bound" };
    const { emulator, messages } = await healthy(head);
    const broken = JSON.stringify(body([user({ type: "text", text: "other" }), ...messages.slice(1)], head));
    const error = await refusalOf(emulator, broken);
    expect(error).toContain("bound to a different conversation");
    const { text } = repairHistory(broken, { error: error ?? "" });
    expect(await refusalOf(emulator, text)).toBeUndefined();
  });
});

const mishap = fc.record({
  kind: fc.constantFrom("drop", "double", "swap", "cut", "drop block", "double block", "strip"),
  at: fc.nat(20),
  to: fc.nat(20),
  field: fc.constantFrom("signature", "thinking", "id", "tool_use_id", "input", "text", "content"),
});
type Mishap = typeof mishap extends fc.Arbitrary<infer T> ? T : never;

function suffer(messages: readonly Json[], mishaps: readonly Mishap[]): readonly Json[] {
  const list = [...messages];
  for (const { kind, at: where, to, field } of mishaps) {
    const index = where % Math.max(list.length, 1);
    const message = list[index];
    if (message === undefined) continue;
    const own = Array.isArray(message["content"]) ? blocks(message) : [{ type: "text", text: "go" }];
    const one = to % Math.max(own.length, 1);
    const change = (content: readonly Json[]): void => {
      list[index] = { ...message, content };
    };
    if (kind === "drop") list.splice(index, 1);
    else if (kind === "double") list.splice(index, 0, message);
    else if (kind === "cut") list.splice(index + 1);
    else if (kind === "drop block") change(own.filter((_, n) => n !== one));
    else if (kind === "double block")
      change([...own, own[one] ?? {}].filter(({ type }) => type !== undefined));
    else if (kind === "strip") change(own.map((block, n) => (n === one ? without(block, field) : block)));
    else {
      const other = to % list.length;
      [list[index], list[other]] = [list[other] ?? message, message];
    }
  }
  return list;
}

test(
  "whatever happened to it, a repaired history is accepted and stays unchanged",
  async () => {
    const { emulator, messages } = await healthy();
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { minLength: 1, maxLength: 6 }), async (mishaps) => {
        const broken = [...suffer(messages, mishaps), user()];
        const text = await accepted(emulator, JSON.stringify(body(broken)));
        expect(repairHistory(text, { format: "messages" })).toMatchObject({
          text,
          changes: [],
          remaining: [],
        });
      }),
      runs(60),
    );
  },
  timeoutFor(60),
);
