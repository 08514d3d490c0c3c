/**
 * The stream of the chat dialect: order of chunks, calls by index, finish reasons, usage in each vendor's place,
 * faults; and, field by field, the shapes of real recordings (if THROUGHLINE_FIXTURES points to them).
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import {
  assistant,
  chat,
  chatStream,
  choiceOf,
  messageOf,
  oneStep,
  toolResult,
  twoCalls,
  user,
} from "./chat-client.ts";
import { emulatorFor, type Json, scripted } from "./emulator-client.ts";

const withUsage = { stream_options: { include_usage: true } };
const go = (model: string, more: Json = {}): Json => ({ model, messages: [user("go")], ...more });

const deltaOf = (event: Json): Json => (choiceOf(event)["delta"] ?? {}) as Json;
const finishes = (events: readonly Json[]): unknown[] =>
  events.map((event) => choiceOf(event)["finish_reason"]).filter((one) => typeof one === "string");

/** A minimal client: joins deltas of the same field, and calls by index. */
function joined(events: readonly Json[]): { readonly message: Json; readonly calls: readonly Json[] } {
  const message: Record<string, string> = {};
  const calls: { id: string; name: string; arguments: string }[] = [];
  const add = (field: string, text: unknown): void => {
    if (typeof text === "string") message[field] = (message[field] ?? "") + text;
  };
  for (const event of events.filter((one) => Array.isArray(one["choices"]))) {
    const { content, tool_calls: made, ...rest } = deltaOf(event);
    for (const [field, text] of Object.entries(rest)) if (field !== "role") add(field, text);
    add("content", content);
    for (const part of Array.isArray(content) ? (content as Json[]) : []) {
      if (part["type"] === "text") add("content", part["text"]);
      else for (const thought of part["thinking"] as Json[]) add("thinking", thought["text"]);
    }
    for (const { index, id, function: given } of (made ?? []) as Json[]) {
      const call = (calls[Number(index)] ??= { id: "", name: "", arguments: "" });
      const { name = "", arguments: text = "" } = given as { name?: string; arguments?: string };
      if (typeof id === "string") call.id = id;
      call.name += name;
      call.arguments += text;
    }
  }
  return { message, calls };
}

const thought = "I look at both places, one and two.";

/** The content of each vendor's field after one tool step. */
const fields: Readonly<Record<string, Json>> = {
  "emu-chat": {},
  "emu-chat-plain": {},
  "emu-deepseek": { reasoning_content: thought },
  "emu-deepseek-old": { reasoning_content: thought },
  "emu-kimi": { reasoning_content: thought },
  "emu-mistral": { thinking: thought },
  "emu-groq": { reasoning: thought },
  "emu-router": { reasoning: thought },
};

describe.each(Object.keys(fields))("%s", (model) => {
  test("streams the same answer that it gives without a stream", async () => {
    const { emulator, history } = await oneStep(model);
    const { events, raw } = await chatStream(await scripted(twoCalls), go(model));
    expect(raw.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(raw).not.toContain("event:");
    expect(deltaOf(events[0] ?? {})["role"]).toBe("assistant");
    expect(finishes(events)).toEqual(["tool_calls"]);
    const { message, calls } = joined(events);
    expect({ ...message, content: undefined, refusal: undefined }).toEqual({
      ...fields[model],
      content: undefined,
    });
    expect(message["content"] ?? "").toBe("");
    const ids = calls.map((call) => call["id"]);
    expect(new Set(ids).size).toBe(2);
    expect(calls).toEqual([
      { id: ids[0], name: "look", arguments: '{"at":"one"}' },
      { id: ids[1], name: "look", arguments: '{"at":"two"}' },
    ]);
    expect(new Set(events.map((event) => event["id"])).size).toBe(1);
    // The response object says the same.
    const made = (history.answer["tool_calls"] as Json[]).map((call) => call["function"]);
    expect(made).toEqual(calls.map(({ name, arguments: text }) => ({ name, arguments: text })));
    expect(emulator.report().requests.map((one) => one.outcome)).toEqual(["completed"]);
  });
});

async function usagePlaces(model: string, more: Json): Promise<string[]> {
  const { events } = await chatStream(await scripted(twoCalls), go(model, more));
  return events.flatMap((event, index) => {
    const last = finishes([event]).length > 0;
    const here = last ? "finish" : index === events.length - 1 ? "own" : "other";
    return [
      ...(typeof event["usage"] === "object" && event["usage"] !== null ? [here] : []),
      ...(choiceOf(event)["usage"] === undefined ? [] : [`${here} choice`]),
      ...(event["x_groq"] !== undefined && last ? ["x_groq"] : []),
    ];
  });
}

describe("usage", () => {
  test.each([
    ["emu-chat", [], ["own"]],
    ["emu-deepseek", [], ["finish"]],
    ["emu-kimi", ["finish choice"], ["finish choice", "own"]],
    ["emu-mistral", ["finish"], ["finish"]],
    ["emu-groq", ["x_groq"], ["finish", "x_groq"]],
    ["emu-router", [], ["own"]],
  ])("%s: without and with stream_options.include_usage", async (model, without, asked) => {
    expect(await usagePlaces(model, {})).toEqual(without);
    expect(await usagePlaces(model, withUsage)).toEqual(asked);
  });

  test("counts add up, and thinking is counted even if it is not shown", async () => {
    const { emulator } = await oneStep("emu-chat");
    const usage = (await chat(emulator, go("emu-chat"))).json["usage"] as Record<string, number> & {
      completion_tokens_details: { reasoning_tokens: number };
    };
    expect(usage["total_tokens"]).toBe((usage["prompt_tokens"] ?? 0) + (usage["completion_tokens"] ?? 0));
    expect(usage.completion_tokens_details.reasoning_tokens).toBeGreaterThan(0);
  });

  test("a replayed prefix is cached", async () => {
    const { emulator, history } = await oneStep("emu-deepseek", { switches: { cacheMinimumTokens: 0 } });
    const reply = await chat(emulator, { model: "emu-deepseek", messages: history.messages });
    expect(reply.json["usage"]).toMatchObject({ prompt_cache_hit_tokens: expect.any(Number) as number });
    expect(emulator.report().requests.at(-1)?.cachedTokens).toBeGreaterThan(0);
  });
});

describe("how a response ends", () => {
  test("a refusal: OpenAI has a field for it, the others say it in text", async () => {
    const emulator = await emulatorFor();
    const please = { messages: [user("Please refuse this.")] };
    const { events } = await chatStream(emulator, go("emu-chat", please));
    expect(joined(events).message).toEqual({
      content: "",
      refusal: "I'm sorry, but I can't help with that.",
    });
    expect(finishes(events)).toEqual(["stop"]);
    expect(messageOf(await chat(emulator, go("emu-chat", please)))).toMatchObject({
      content: null,
      refusal: "I'm sorry, but I can't help with that.",
    });
    expect(joined((await chatStream(emulator, go("emu-groq", please))).events).message["content"]).toContain(
      "can't help",
    );
  });

  test("length and content_filter", async () => {
    const { emulator } = await oneStep("emu-deepseek");
    for (const [fault, finish] of [
      ["incomplete=max_output_tokens,items:1", "length"],
      ["incomplete=content_filter,items:0", "content_filter"],
    ] as const) {
      const { events } = await chatStream(emulator, go("emu-deepseek"), { "x-emulator-fault": fault });
      expect(finishes(events)).toEqual([finish]);
      expect(emulator.report().requests.at(-1)?.outcome).toBe("incomplete");
    }
  });

  test("structured output is valid JSON for the schema", async () => {
    const emulator = await emulatorFor();
    const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    const reply = await chat(emulator, {
      ...go("emu-chat"),
      response_format: { type: "json_schema", json_schema: { name: "facts", schema, strict: true } },
    });
    expect(JSON.parse(String(messageOf(reply)["content"]))).toEqual({ count: expect.any(Number) as number });
  });

  test("a forced tool, a custom tool, and no parallel calls", async () => {
    const emulator = await emulatorFor();
    const look = { type: "function", function: { name: "look", parameters: { type: "object" } } };
    const forced = await chat(emulator, {
      ...go("emu-chat"),
      tools: [look],
      tool_choice: { type: "function", function: { name: "look" } },
    });
    expect((messageOf(forced)["tool_calls"] as Json[])[0]).toMatchObject({ function: { name: "look" } });
    const sql = { type: "custom", custom: { name: "sql" } };
    const { events } = await chatStream(emulator, {
      ...go("emu-chat"),
      tools: [sql],
      tool_choice: "required",
    });
    const made = events.flatMap((event) => (deltaOf(event)["tool_calls"] ?? []) as Json[]);
    expect(made[0]).toMatchObject({ index: 0, type: "custom", custom: { name: "sql", input: "" } });
    const weather = { type: "function", function: { name: "get_weather", parameters: { type: "object" } } };
    const one = await chat(emulator, {
      model: "emu-chat",
      messages: [user("Compare the weather in Paris and Rome.")],
      tools: [weather],
      parallel_tool_calls: false,
    });
    expect(messageOf(one)["tool_calls"]).toHaveLength(1);
  });
});

async function faulty(fault: string, model = "emu-deepseek") {
  const emulator = await scripted(twoCalls);
  const reply = await chatStream(emulator, go(model), { "x-emulator-fault": fault });
  return { ...reply, outcome: emulator.report().requests.at(-1)?.outcome };
}

describe("faults", () => {
  test("an error inside the stream, in three shapes, and nothing after it", async () => {
    const nested = await faulty("error-event=nested,code:server_error,items:1");
    expect(nested.events.at(-1)).toMatchObject({ error: { type: "server_error", code: "server_error" } });
    expect(joined(nested.events.slice(0, -1)).message["reasoning_content"]).toBe(thought);
    expect([nested.outcome, nested.raw.includes("[DONE]")]).toEqual(["failed", false]);
    const flat = await faulty("error-event=flat,code:server_error");
    expect(flat.events.at(-1)).toMatchObject({ object: "error", code: "server_error" });
    const router = await faulty("failed=server_error", "emu-router");
    expect(router.events.at(-1)).toMatchObject({
      error: { code: 502 },
      choices: [{ finish_reason: "error" }],
    });
  });

  test("without a stream a failure is an HTTP error", async () => {
    const { emulator } = await oneStep("emu-deepseek");
    const reply = await chat(emulator, go("emu-deepseek"), { "x-emulator-fault": "failed=server_error" });
    expect([reply.status, emulator.report().requests.at(-1)?.outcome]).toEqual([500, "failed"]);
  });

  test.each([
    ["cut=after-item:0", "cut", false],
    ["reset=after-event:3", "cut", false],
    ["end=before-item:1", "no_terminal", false],
    ["no-terminal", "no_terminal", false],
    ["double-terminal", "completed", true],
    ["crlf;bom;split=7", "completed", true],
    ["keepalive=2", "completed", true],
    ["unknown-event", "completed", true],
    ["unknown-item", "completed", true],
    ["spliced-start=2", "completed", true],
    ["done-only", "completed", true],
    ["rotate-ids=40", "completed", true],
  ])("%s: %s", async (fault, outcome, done) => {
    const reply = await faulty(fault);
    expect([reply.outcome, reply.raw.includes("[DONE]")]).toEqual([outcome, done]);
    if (outcome === "completed")
      expect(joined(reply.events).calls.map((call) => call["name"])).toContain("look");
  });

  test("bad-json breaks one chunk, done-only sends each field whole", async () => {
    const { events } = await faulty("bad-json=2");
    expect(events[2]).toEqual({});
    const whole = await faulty("done-only");
    expect(whole.events.map(deltaOf).filter((delta) => delta["reasoning_content"] === thought)).toHaveLength(
      1,
    );
  });

  test("a scenario for another dialect leaves chat to the model", async () => {
    const emulator = await scripted("dialect: openai-responses\nsteps: [{output: [{message: Scripted.}]}]");
    expect(messageOf(await chat(emulator, go("emu-chat")))["content"]).not.toBe("Scripted.");
  });
});

const folder = process.env["THROUGHLINE_FIXTURES"];

/** The recording, the model that represents its server, and the free content there. */
const recordings = [
  ["openai-text", "emu-chat-plain"],
  ["deepseek-reasoning", "emu-deepseek"],
  ["deepseek-tool-call", "emu-deepseek"],
  ["groq-reasoning", "emu-groq"],
  ["mistral-reasoning", "emu-mistral"],
] as const;

if (folder === undefined)
  process.stderr.write(
    `chat-wire: skipped ${recordings.length} recordings, THROUGHLINE_FIXTURES is not set\n`,
  );

/**
 * Keys in order with the JSON types of their values, per kind of chunk: the fields of its delta, and its finish reason.
 */
function shapesOf(events: readonly Json[]): ReadonlySet<string> {
  return new Set(events.map((event) => shapeOf(event)));
}

function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].join("|")}]`;
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return `{${Object.entries(value)
    .map(([key, one]) => `${key}:${shapeOf(one)}`)
    .join(",")}}`;
}

async function ours(model: string, calls: boolean): Promise<readonly Json[]> {
  const last = calls
    ? "{function_call: {name: weather, arguments: {location: Paris}}}"
    : "{message: Some words to say.}";
  // The recording is older than Mistral's signatures.
  const emulator: Emulator = await scripted(
    `steps: [{output: [{reasoning: {text: Some thoughts here.}}, ${last}]}]`,
    { switches: { mistralSignature: false } },
  );
  return (await chatStream(emulator, go(model, withUsage))).events;
}

test.each(recordings)(
  "the shapes of %s are the ones that were compared with the recordings (%s)",
  async (name, model) => {
    const mine = [...shapesOf(await ours(model, name.includes("tool")))];
    await expect(`${mine.toSorted().join("\n")}\n`).toMatchFileSnapshot(`shapes/${name}.txt`);
  },
);

test.skipIf(folder === undefined).each(recordings)(
  "%s: every chunk of %s has a recorded shape",
  async (name, model) => {
    const path = join(folder ?? "", "openai-chat", `${name}.chunks.txt`);
    expect(existsSync(path), path).toBe(true);
    const lines = readFileSync(path, "utf8").split("\n");
    const recorded = lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Json);
    const real = shapesOf(recorded);
    const mine = shapesOf(await ours(model, name.includes("tool")));
    expect([...mine].filter((shape) => !real.has(shape))).toEqual([]);
    expect([...real].filter((shape) => !mine.has(shape))).toEqual([]);
  },
);

test("every vendor accepts a foreign history once it is translated", async () => {
  const call = { id: "abcdefghi", type: "function", function: { name: "look", arguments: "{}" } };
  for (const model of Object.keys(fields)) {
    const emulator = await emulatorFor();
    const messages = [
      user("go"),
      assistant("", { tool_calls: [call] }),
      toolResult("abcdefghi"),
      assistant("Done."),
      user("more"),
    ];
    const off = model === "emu-deepseek" || model === "emu-kimi" ? { thinking: { type: "disabled" } } : {};
    expect([model, (await chat(emulator, { model, messages, ...off })).status]).toEqual([model, 200]);
  }
});
