import { afterEach, expect, test, vi } from "vitest";

import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import {
  createAgent,
  isEphemeral,
  memoryStore,
  modelFrom,
  openai,
  type OpenAiOptions,
  type Session,
  type SessionEvent,
  tool,
} from "../../src/index.ts";
import { previewFromLog } from "../../src/inspect.ts";
import { ResponsesDecoder } from "../../src/runtime/providers/openai-responses/index.ts";

/** Requirements of docs/requirements.md about the shape of a request or of the events that no other test shows. */

type Json = Readonly<Record<string, unknown>>;

const weather = tool({
  name: "get_weather",
  description: "The weather of a city",
  input: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  access: "read",
  run: () => "sunny",
});

interface Bench {
  readonly emulator: Emulator;
  readonly session: Session;
  readonly bodies: () => readonly Json[];
}

const open: Bench[] = [];
afterEach(async () => {
  for (const { session, emulator } of open.splice(0)) {
    await session.close();
    await emulator.close();
  }
});

async function bench(model = "emu-reasoner", options: OpenAiOptions = {}): Promise<Bench> {
  const emulator = await startEmulator();
  const target = openai(model, { baseUrl: emulator.baseUrl, apiKey: "key-for-tests", ...options });
  const session = await createAgent({ model: target, tools: [weather], system: "Be brief." }).open();
  const bodies = (): readonly Json[] =>
    emulator.exchanges
      .filter(({ path }) => path === "/v1/responses")
      .map(({ requestText }) => JSON.parse(requestText) as Json);
  const made = { emulator, session, bodies };
  open.push(made);
  return made;
}

function itemsOf(body: Json | undefined): readonly Json[] {
  return (body?.["input"] ?? []) as readonly Json[];
}

function typesOf(body: Json | undefined): readonly unknown[] {
  return itemsOf(body).map((item) => item["type"]);
}

async function heard(session: Session, prompt: string): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of session.send(prompt)) events.push(event);
  return events;
}

test("F1 F6 F22 G13 G20 P2 Q12 the thoughts of a tool turn and of a plain answer are in the next request, in their place", async () => {
  const { session, bodies } = await bench();
  await session.send("What is the weather in Paris?").text();
  await session.send("Thanks").text();
  expect(bodies().map(typesOf)).toEqual([
    ["message"],
    ["message", "reasoning", "function_call", "function_call_output"],
    ["message", "reasoning", "function_call", "function_call_output", "reasoning", "message", "message"],
  ]);
});

test("F7 F8 F23 G25 P7 every request is stateless and asks for encrypted reasoning, whatever the model's name", async () => {
  for (const model of ["emu-reasoner", "gpt-5.1", "o3", "some-other-model"]) {
    const { session, bodies } = await bench(model);
    await session.send("What is the weather in Paris?").text();
    await session.send("Thanks").text();
    expect(bodies()).toHaveLength(3);
    for (const body of bodies()) {
      expect(body).toMatchObject({ model, store: false, include: ["reasoning.encrypted_content"] });
      expect(Object.keys(body)).not.toContain("previous_response_id");
    }
  }
});

test("Q5 Q6 reasoning history is kept for every model of the dialect, whatever its name", async () => {
  for (const model of ["gpt-5.1", "o3", "some-other-model"]) {
    const { session, emulator, bodies } = await bench(model);
    await session.send("What is the weather in Paris?").text();
    await session.send("Thanks").text();
    expect(typesOf(bodies().at(-1)).filter((type) => type === "reasoning")).toHaveLength(2);
    expect(emulator.report().totals).toMatchObject({ refused: 0, recall: 1, retention: 1 });
  }
});

test("F4 F12 Q2 with summaries off, reasoning is still captured and replayed", async () => {
  const { session, emulator, bodies } = await bench("emu-reasoner", { summary: "none" });
  const events = await heard(session, "What is the weather in Paris?");
  await session.send("Thanks").text();
  expect(bodies()[0]).not.toHaveProperty("reasoning.summary");
  expect(events.filter(({ type }) => type === "reasoning_delta")).toEqual([]);
  const thoughts = itemsOf(bodies().at(-1)).filter((item) => item["type"] === "reasoning");
  expect(thoughts).toHaveLength(2);
  for (const thought of thoughts) {
    expect(thought).toEqual({
      type: "reasoning",
      id: expect.any(String),
      summary: [],
      encrypted_content: expect.any(String),
    });
  }
  expect(emulator.report().totals.recall).toBe(1);
});

test("F10 an item counts when it is done, not when it is added", () => {
  const added = {
    type: "response.output_item.added",
    output_index: 0,
    item: { type: "reasoning", id: "rs_1" },
  };
  const decoder = new ResponsesDecoder();
  const events = decoder.feed([{ event: "", data: JSON.stringify(added) }]);
  expect(events.map(({ type }) => type)).toEqual(["item_start"]);
  expect(decoder.close()).toMatchObject([{ type: "end", end: { status: "cut" } }]);
});

test("F11 the id is the item's own, and output_item is accepted for item", () => {
  const item = '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"x","big":9007199254740993}';
  for (const key of ["item", "output_item"]) {
    const data = `{"type":"response.output_item.done","item_id":"other","output_index":0,"${key}":${item}}`;
    const done = new ResponsesDecoder().feed([{ event: "", data }]).find(({ type }) => type === "item_done");
    expect(done).toMatchObject({ draft: { type: "reasoning", itemId: "rs_1", opaque: true, item } });
  }
});

test("G19 a response that was not streamed gives the same items, once each", () => {
  const item = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "x" };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "a" }],
  };
  const decoder = new ResponsesDecoder();
  const events = decoder.feedResponse(
    JSON.stringify({ id: "resp_1", object: "response", status: "completed", output: [item, message] }),
  );
  const drafts = events.flatMap((event) => (event.type === "item_done" ? [event.draft.itemId] : []));
  expect(drafts).toEqual(["rs_1", "msg_1"]);
  expect(events.at(-1)).toMatchObject({ type: "end", end: { status: "completed" } });
});

test("G3 G5 G6 G21 a request carries model, input, limits, reasoning and top-level tools, and tool_choice only if it is set", async () => {
  const { session, bodies } = await bench("emu-reasoner", { effort: "high", maxOutputTokens: 5000 });
  await session.send("What is the weather in Paris?").text();
  const [first, second] = bodies();
  expect(first).toEqual({
    model: "emu-reasoner",
    store: false,
    stream: true,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "high", summary: "auto" },
    instructions: "Be brief.",
    tools: [
      {
        type: "function",
        name: "get_weather",
        description: "The weather of a city",
        parameters: weather.parameters,
        strict: true,
      },
    ],
    parallel_tool_calls: true,
    max_output_tokens: 5000,
    prompt_cache_key: session.id,
    input: [
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "What is the weather in Paris?" }],
      },
    ],
  });
  const call = itemsOf(second).find((item) => item["type"] === "function_call");
  expect(itemsOf(second).at(-1)).toEqual({
    type: "function_call_output",
    call_id: call?.["call_id"],
    output: "sunny",
  });
  const chosen = await bench("emu-reasoner", { parameters: { tool_choice: "auto" } });
  await chosen.session.send("Hello").text();
  expect(chosen.bodies()[0]).toMatchObject({ tool_choice: "auto" });
});

test("G7 G8 G9 G10 G11 C9 C12 C13 P1 thinking, calls and text each have start, delta and end events; only finished items are logged", async () => {
  const { session } = await bench();
  const events = await heard(session, "What is the weather in Paris?");
  const order = events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
  expect(order).toEqual([
    "session_start",
    "user_message",
    "title",
    "settings",
    "response_start",
    "reasoning_start",
    "reasoning_part_start",
    "reasoning_delta",
    "reasoning_part_start",
    "reasoning_delta",
    "reasoning_end",
    "reasoning",
    "tool_call_start",
    "tool_call_delta",
    "tool_call",
    "response_end",
    "usage",
    "permission_decision",
    "tool_start",
    "tool_result",
    "response_start",
    "reasoning_start",
    "reasoning_part_start",
    "reasoning_delta",
    "reasoning_end",
    "reasoning",
    "text_start",
    "text_delta",
    "text_end",
    "assistant_message",
    "response_end",
    "usage",
    "turn_end",
  ]);
  const titles = events.flatMap((event) => (event.type === "reasoning_part_start" ? [event.title] : []));
  expect(titles).toEqual(["Checking the weather", "Choosing the tool", "Reading the reports"]);
  const text = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : [])).join("");
  const said = events.flatMap((event) => (event.type === "assistant_message" ? [event.text] : []));
  expect([text]).toEqual(said);
  const args = events.flatMap((event) => (event.type === "tool_call_delta" ? [event.delta] : [])).join("");
  expect(args).toBe('{"city":"Paris"}');
  const logged: SessionEvent[] = [];
  for await (const event of session.events()) logged.push(event);
  expect(logged).toEqual(events.filter((event) => !isEphemeral(event)));
});

test("C7 C8 C10 F18 F19 a thought has its id, its payload, its parts and its time, in its own event", async () => {
  const { session } = await bench();
  const events = await heard(session, "What is the weather in Paris?");
  const thought = events.find((event) => event.type === "reasoning");
  expect(thought).toMatchObject({
    itemType: "reasoning",
    itemId: expect.stringMatching(/^rs_/),
    opaque: true,
    parts: [
      { kind: "summary", text: expect.stringMatching(/^\*\*Checking the weather\*\*/) },
      { kind: "summary", text: expect.stringMatching(/^\*\*Choosing the tool\*\*/) },
    ],
    startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    durationMs: expect.any(Number),
  });
  expect(Object.keys(JSON.parse(thought?.item ?? "{}") as object)).toContain("encrypted_content");
});

test("G12 Q13 a turn ends with its text, its tokens including reasoning, and its duration", async () => {
  const { session, emulator } = await bench();
  const turn = session.send("What is the weather in Paris?");
  const { status, text, usage, steps } = await turn.result();
  const events: SessionEvent[] = [];
  for await (const event of turn) events.push(event); // after the end, everything is still there
  const sum = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  for (const { events: sent } of emulator.exchanges) {
    const { usage: told } = (sent.at(-1)?.["response"] ?? {}) as { usage?: Record<string, never> };
    sum.inputTokens += told?.["input_tokens"] ?? 0;
    sum.outputTokens += told?.["output_tokens"] ?? 0;
    sum.cachedTokens += told?.["input_tokens_details"]?.["cached_tokens"] ?? 0;
    sum.reasoningTokens += told?.["output_tokens_details"]?.["reasoning_tokens"] ?? 0;
  }
  expect({ status, text, steps }).toEqual({
    status: "completed",
    text: expect.stringContaining("sunny"),
    steps: 2,
  });
  expect(usage.reasoningTokens).toBeGreaterThan(0);
  expect(usage).toEqual(sum);
  expect(events.at(-1)).toMatchObject({ type: "turn_end", usage, durationMs: expect.any(Number) });
});

test("G14 the next request can be previewed before it is sent, exact and in short, without payloads", async () => {
  const { session, bodies } = await bench();
  await session.send("What is the weather in Paris?").text();
  const sent = bodies().length;
  const preview = await session.preview();
  expect(preview.items.map(({ type, role, head }) => [type, role, head])).toEqual([
    ["message", "user", "What is the weather in Paris?"],
    ["reasoning", undefined, ""],
    ["function_call", undefined, 'get_weather({"city":"Paris"})'],
    ["function_call_output", undefined, "sunny"],
    ["reasoning", undefined, ""],
    ["message", "assistant", expect.stringMatching(/^I am the Throughline emulator/)],
  ]);
  expect(preview.violations).toEqual([]);
  expect(bodies()).toHaveLength(sent);
  await session.send("Thanks").text();
  const next = itemsOf(bodies().at(-1)).slice(0, -1);
  expect((JSON.parse(preview.body) as Json)["input"]).toEqual(next);
});

test("G14 a preview for another model is the request a switch would send, even from the log alone", async () => {
  const emulator = await startEmulator();
  const store = memoryStore();
  const at = { baseUrl: emulator.baseUrl, apiKey: "key-for-tests" };
  const first = openai("emu-reasoner", {
    ...at,
    effort: "high",
    summary: "concise",
    reasoningContext: "all_turns",
    maxOutputTokens: 9000,
  });
  const second = openai("emu-reasoner-mini", at);
  const session = await createAgent({ model: first, tools: [weather] }).open({ id: "previewed", store });
  await session.send("What is the weather in Paris?").text();
  const { body } = await session.preview({ model: second });
  const log = await store.open("previewed", { mode: "read" });
  expect(JSON.parse((await previewFromLog(log, second)).body)).toEqual(JSON.parse(body));
  expect(Object.keys(JSON.parse(body) as Json)).not.toContain("max_output_tokens");
  await session.close();
  await emulator.close();
});

test("G1 G2 a model is chosen by its name; key and address come from the environment", async () => {
  const emulator = await startEmulator();
  vi.stubEnv("OPENAI_API_KEY", "key-from-the-environment");
  vi.stubEnv("OPENAI_BASE_URL", emulator.baseUrl);
  const model = modelFrom("openai/gpt-5.1:high");
  expect(model.settings).toMatchObject({
    target: { provider: "openai", dialect: "openai-responses", model: "gpt-5.1", endpoint: emulator.baseUrl },
    effort: "high",
  });
  expect(modelFrom("openai/qwen3:8b").settings.target.model).toBe("qwen3:8b");
  const session = await createAgent({ model }).open();
  expect((await session.send("Hello").result()).status).toBe("completed");
  await session.close();
  await emulator.close();
});
