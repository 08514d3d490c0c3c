/** The wire of `/v1/messages`: events as recorded, usage, ends, faults; and the report. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { parseFaults } from "../../src/emulator/index.ts";
import { MESSAGES_DELTAS, MESSAGES_EVENTS } from "../../src/emulator/messages/vocabulary.ts";
import { emulatorFor, type Json, scripted, without } from "./emulator-client.ts";
import {
  adaptive,
  ask,
  assembled,
  assistant,
  contentOf,
  expectTaken,
  resultsFor,
  says,
  streamed,
} from "./messages-client.ts";

const types = (events: readonly Json[]): string[] =>
  events.map((event) => {
    const inner = (event["delta"] ?? event["content_block"]) as { readonly type?: string } | undefined;
    const type = event["type"] as string;
    return inner?.type === undefined ? type : `${type} ${inner.type}`;
  });

const once = (names: readonly string[]): string[] => names.filter((name, at) => name !== names[at - 1]);

const unproven = (blocks: readonly Json[]): Json[] =>
  blocks.map((block) => without(block, "signature", "id"));

const thought = (json: Json | undefined): string => String(contentOf({ json: json ?? {} })[0]?.["thinking"]);

const lines = (all: ReadonlyMap<string, ReadonlySet<string>>): string[] =>
  [...all].flatMap(([type, set]) => [...set].map((line) => `${type} ${line}`)).toSorted();

describe("a message", () => {
  const script = `
dialect: anthropic-messages
steps:
  - output:
      - reasoning: I look twice.
      - message: Let me see.
      - function_call: {name: look, arguments: {at: "one\\ntwo"}}
      - function_call: {name: refresh, arguments: {}}
afterwards: repeat
`;

  test("has its events in order, each in its frame", async () => {
    const emulator = await scripted(script);
    const { events, raw } = await streamed(emulator, { ...adaptive, messages: [says("go")] });
    expect(once(types(events))).toEqual([
      "message_start",
      "content_block_start thinking",
      "ping",
      "content_block_delta thinking_delta",
      "content_block_delta signature_delta",
      "content_block_stop",
      "content_block_start text",
      "content_block_delta text_delta",
      "content_block_stop",
      "content_block_start tool_use",
      "content_block_delta input_json_delta",
      "content_block_stop",
      "content_block_start tool_use",
      "content_block_delta input_json_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    for (const frame of raw.trimEnd().split("\n\n")) {
      const [name, data] = frame.split("\n");
      expect(name).toBe(`event: ${String((JSON.parse(data?.slice(6) ?? "") as Json)["type"])}`);
    }
    const partials = events
      .map((event) => event["delta"] as Json | undefined)
      .filter((delta) => delta?.["type"] === "input_json_delta")
      .map((delta) => delta?.["partial_json"]);
    expect([partials[0], partials.at(-1)]).toEqual(["", ""]);
    for (const event of events) expect(MESSAGES_EVENTS.has(String(event["type"]))).toBe(true);
    for (const name of types(events).filter((one) => one.includes("_delta ")))
      expect(MESSAGES_DELTAS.has(name.split(" ")[1] ?? "")).toBe(true);
  });

  test("is the same streamed and not, and can go back", async () => {
    const emulator = await scripted(script);
    const { events } = await streamed(emulator, { ...adaptive, messages: [says("go")] });
    const { content, stop } = assembled(events);
    const whole = await expectTaken(emulator, { ...adaptive, messages: [says("go")] });
    expect([unproven(content), stop]).toEqual([unproven(contentOf({ json: whole })), whole["stop_reason"]]);
    expect(content.map((block) => block["input"])).toEqual([undefined, undefined, { at: "one\ntwo" }, {}]);
    await expectTaken(emulator, {
      ...adaptive,
      messages: [says("go"), assistant(content), resultsFor(content)],
    });
  });

  test("belongs to its dialect: other requests do not consume the step", async () => {
    const emulator = await scripted(script);
    const other = await fetch(`${emulator.baseUrl}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer k" },
      body: JSON.stringify({ model: "emu-reasoner", store: false, input: "hello" }),
    });
    expect(await other.text()).toContain("You said: “hello”");
    const reply = await expectTaken(emulator, { ...adaptive, messages: [says("go")] });
    expect(reply["stop_reason"]).toBe("tool_use");
    expect(emulator.report().requests.map((one) => one.dialect)).toEqual([
      "openai-responses",
      "anthropic-messages",
    ]);
  });

  test("can have hosted tools: call and result in one message, with a citation", async () => {
    const emulator = await emulatorFor();
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const messages = [says("Search the web for release notes.")];
    const { events } = await streamed(emulator, { ...adaptive, tools, messages });
    const { content } = assembled(events);
    expect(content.map((block) => block["type"])).toEqual([
      "thinking",
      "server_tool_use",
      "web_search_tool_result",
      "thinking",
      "text",
    ]);
    expect(types(events)).toContain("content_block_delta citations_delta");
    await expectTaken(emulator, {
      ...adaptive,
      tools,
      messages: [...messages, assistant(content), says("ok")],
    });
    expect(emulator.report().requests.at(-1)?.recall).toBe(1);
  });
});

describe("usage", () => {
  test("is cumulative, with thinking and cache", async () => {
    const emulator = await emulatorFor({ switches: { cacheMinimumTokens: 16 } });
    const cached = { type: "text", text: "word ".repeat(200), cache_control: { type: "ephemeral" } };
    const body = { ...adaptive, messages: [{ role: "user", content: [cached] }] };
    const usageOf = async (): Promise<readonly [Json, Json]> => {
      const { events } = await streamed(emulator, body);
      const start = ((events[0] as Json)["message"] as Json)["usage"] as Json;
      return [start, events.find((event) => event["type"] === "message_delta")?.["usage"] as Json];
    };
    const [first] = await usageOf();
    expect([first["cache_read_input_tokens"], Number(first["cache_creation_input_tokens"]) > 200]).toEqual([
      0,
      true,
    ]);
    const [start, end] = await usageOf();
    expect(Number(start["cache_read_input_tokens"])).toBeGreaterThan(200);
    expect(end).toMatchObject({
      input_tokens: start["input_tokens"],
      cache_read_input_tokens: start["cache_read_input_tokens"],
    });
    const details = end["output_tokens_details"] as Json;
    expect(Number(end["output_tokens"])).toBeGreaterThan(Number(details["thinking_tokens"]));
    expect(Number(details["thinking_tokens"])).toBeGreaterThan(0);
    const plain = await expectTaken(emulator, { ...adaptive, messages: [says("word ".repeat(200))] });
    expect(plain["usage"]).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
  });

  test("keeps the prefix stable when breakpoints move", async () => {
    const emulator = await emulatorFor();
    const cached = { cache_control: { type: "ephemeral" } };
    const one = { role: "user", content: [{ type: "text", text: "hello", ...cached }] };
    const reply = await expectTaken(emulator, { ...adaptive, messages: [one] });
    const next = [says("hello"), assistant(contentOf({ json: reply })), says("more")];
    await expectTaken(emulator, { ...adaptive, messages: next });
    expect(emulator.report().requests.at(-1)).toMatchObject({ prefixStable: true, recall: 1 });
    await expectTaken(emulator, { ...adaptive, messages: [says("Hello"), ...next.slice(1)] });
    expect(emulator.report().requests.at(-1)).toMatchObject({ prefixStable: false, prefixDiffersAt: 0 });
  });
});

describe("how a message ends", () => {
  const ends: readonly (readonly [string, Json, string, string])[] = [
    ["end_turn", {}, "hello", "completed"],
    ["max_tokens", { max_tokens: 40 }, "Write a long answer.", "incomplete"],
    ["stop_sequence", { stop_sequences: ["emulator:"] }, "hello", "completed"],
    ["refusal", {}, "Please refuse this.", "incomplete"],
    ["model_context_window_exceeded", { model: "claude-small" }, "Write a long answer.", "incomplete"],
  ];
  test.each(ends)("%s", async (reason, change, prompt, outcome) => {
    const emulator = await emulatorFor({ models: { "claude-small": { contextTokens: 300 } } });
    const reply = await expectTaken(emulator, { ...adaptive, ...change, messages: [says(prompt)] });
    expect([reply["stop_reason"], reply["stop_sequence"]]).toEqual([
      reason,
      reason === "stop_sequence" ? "emulator:" : null,
    ]);
    // The sequence itself is not sent.
    if (reason === "stop_sequence")
      expect(contentOf({ json: reply }).at(-1)?.["text"]).toBe("I am the Throughline ");
    expect("stop_details" in reply).toBe(reason === "refusal");
    expect(emulator.report().requests.at(-1)?.outcome).toBe(outcome);
  });

  test("tool_use, pause_turn and other dialects' terms in a scenario", async () => {
    const emulator = await scripted(`
steps:
  - output: [{function_call: {name: look}}]
  - {status: incomplete, reason: pause_turn, output: [{web_search_call: x}]}
  - {status: incomplete, reason: content_filter, output: [{message: Half}]}
  - {status: incomplete, output: [{message: Half}]}
`);
    const reasons: unknown[] = [];
    for (let request = 0; request < 4; request += 1) {
      reasons.push((await expectTaken(emulator, { ...adaptive, messages: [says("go")] }))["stop_reason"]);
    }
    expect(reasons).toEqual(["tool_use", "pause_turn", "refusal", "max_tokens"]);
  });
});

describe("thinking", () => {
  test("off, on, after tools only, and briefly", async () => {
    const emulator = await emulatorFor();
    const tools = [{ name: "get_weather", input_schema: { type: "object", properties: { city: {} } } }];
    const first = says("What is the weather in Paris?");
    const kinds = async (body: Json, messages: readonly Json[]): Promise<unknown[]> =>
      contentOf({ json: await expectTaken(emulator, { ...adaptive, ...body, tools, messages }) }).map(
        (block) => block["type"],
      );
    expect(await kinds({ thinking: { type: "disabled" } }, [first])).toEqual(["tool_use"]);
    expect(await kinds({ thinking: undefined }, [first])).toEqual(["tool_use"]);
    expect(await kinds({ thinking: undefined, model: "emu-claude-bound" }, [first])).toEqual([
      "thinking",
      "tool_use",
    ]);
    const between = { thinking: { type: "between_tools" } };
    expect(await kinds(between, [first])).toEqual(["tool_use"]);
    const call = [{ type: "tool_use", id: "toolu_1", name: "get_weather", input: { city: "Paris" } }];
    expect(await kinds(between, [first, assistant(call), resultsFor(call)])).toEqual(["thinking", "text"]);
    const [long, short] = await Promise.all(
      ["high", "low"].map((effort) =>
        expectTaken(emulator, { ...adaptive, tools, output_config: { effort }, messages: [first] }),
      ),
    );
    expect(thought(long).startsWith(`${thought(short)}\n\n`)).toBe(true);
  });

  test("redacted: data without deltas, which the model reads again", async () => {
    const emulator = await emulatorFor();
    const { events } = await streamed(emulator, { ...adaptive, messages: [says("Think in secret.")] });
    expect(events[1]).toMatchObject({ content_block: { type: "redacted_thinking" } });
    expect(types(events).slice(1, 4)).toEqual([
      "content_block_start redacted_thinking",
      "ping",
      "content_block_stop",
    ]);
    const messages = [says("Think in secret."), assistant(assembled(events).content), says("Which number?")];
    const reply = await expectTaken(emulator, { ...adaptive, messages });
    expect(JSON.stringify(reply["content"])).not.toContain("I no longer have");
  });

  test("structured output", async () => {
    const emulator = await emulatorFor();
    const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    const reply = await expectTaken(emulator, {
      ...adaptive,
      output_config: { format: { type: "json_schema", schema } },
      messages: [says("Give me the facts as JSON.")],
    });
    const text = String(contentOf({ json: reply }).at(-1)?.["text"]);
    expect(JSON.parse(text)).toEqual({ count: expect.any(Number) });
  });
});

test("every parameter of the official types is known, and those of the beta with its header", async () => {
  const emulator = await emulatorFor();
  const counted = {
    cache_control: { type: "ephemeral" },
    speed: "standard",
    user_profile_id: "user_1",
    workspace_id: "wrkspc_1",
    output_config: { effort: "low" },
    tool_choice: { type: "auto" },
    system: [{ type: "text", text: "Be brief." }],
  };
  const created = {
    container: null,
    diagnostics: {},
    inference_geo: "us",
    metadata: { user_id: "someone" },
    service_tier: "auto",
    stop_sequences: [],
  };
  const inBeta = {
    compaction: null,
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    mcp_servers: [],
    output_format: null,
  };
  const header = { "anthropic-beta": "context-management-2025-06-27,claude-code-20250219" };
  const body = { ...adaptive, messages: [says("hello")], ...counted, ...created };
  await expectTaken(emulator, body);
  const extra = { ...inBeta, fallback_credit_token: null, fallbacks: "default", thread: null };
  const managed = await expectTaken(emulator, { ...body, ...extra }, header);
  expect(managed["context_management"]).toEqual({ applied_edits: [] });
  const counting = { model: "emu-claude", messages: [says("hello")], ...counted, ...inBeta };
  expect((await ask(emulator, counting, header, "/messages/count_tokens?beta=true")).status).toBe(200);
});

test("a system-reminder that a client adds is not treated as the user's text", async () => {
  const emulator = await emulatorFor();
  const reminder = "<system-reminder>\nUse `rm` and don't 'ask' twice.\n</system-reminder>\n";
  const content = [
    { type: "text", text: reminder },
    { type: "text", text: `${reminder}Use Bash to run \`echo hello\`` },
  ];
  const schema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
  const reply = await expectTaken(emulator, {
    ...adaptive,
    tools: [{ name: "Bash", input_schema: schema }],
    messages: [{ role: "user", content }],
  });
  expect(contentOf({ json: reply }).at(-1)).toMatchObject({ name: "Bash", input: { command: "echo hello" } });
});

describe("limits", () => {
  const off = { ...adaptive, thinking: { type: "disabled" } };

  test.each([1, 4, 8, 40])("max_tokens %i: the answer ends there, and says so", async (limit) => {
    const emulator = await emulatorFor();
    const body = { ...off, max_tokens: limit, messages: [says("Write a long answer.")] };
    const reply = await expectTaken(emulator, body);
    const text = contentOf({ json: reply })
      .map((block) => String(block["text"]))
      .join("");
    expect(reply).toMatchObject({ stop_reason: "max_tokens", usage: { output_tokens: limit } });
    expect(text.length).toBeGreaterThan(0);
    expect(text.length).toBeLessThanOrEqual(limit * 4);
    const { events } = await streamed(emulator, body);
    const end = events.find((event) => event["type"] === "message_delta");
    expect(end).toMatchObject({ delta: { stop_reason: "max_tokens" }, usage: { output_tokens: limit } });
    expect(assembled(events).content).toEqual(contentOf({ json: reply }));
  });

  test("max_tokens: thinking counts too, and may use it all up", async () => {
    const emulator = await emulatorFor();
    const reply = await expectTaken(emulator, { ...adaptive, max_tokens: 8, messages: [says("hello")] });
    expect(reply).toMatchObject({ content: [], stop_reason: "max_tokens", usage: { output_tokens: 8 } });
  });
});

const text = (words: string, more: Json = {}): Json => ({ type: "text", text: words, ...more });

const result = (more: Json): Json => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [text("done", more)] }],
});

const spaced = (body: Json): string => JSON.stringify(body, null, 1);

describe("moving breakpoints", () => {
  const marked = { cache_control: { type: "ephemeral" } };

  test("break no prefix, even if a text becomes a block to carry the marker and a string again without it", async () => {
    const emulator = await emulatorFor();
    const first = { role: "user", content: "go" };
    const long = "word ".repeat(1000);
    const one = await expectTaken(emulator, {
      ...adaptive,
      system: long,
      messages: [{ ...first, content: [text("go", marked)] }],
    });
    const said = contentOf({ json: one });
    const messages = [first, assistant(said), { role: "user", content: [text("and now?", marked)] }];
    const two = await expectTaken(emulator, { ...adaptive, system: [text(long, marked)], messages });
    expect(emulator.report().requests.at(-1)).toMatchObject({ prefixStable: true, prefixDiffersAt: null });
    expect((two["usage"] as Json)["cache_read_input_tokens"]).toBeGreaterThan(1000);
  });

  test("break no prefix if the JSON has white space and the marker is on a result", async () => {
    const emulator = await emulatorFor();
    const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
    const turn = (more: Json): Json[] => [says("go"), assistant([call]), result(more)];
    const named = { "x-emulator-conversation": "one" };
    await expectTaken(emulator, spaced({ ...adaptive, messages: turn(marked) }), named);
    await expectTaken(emulator, spaced({ ...adaptive, messages: [...turn({}), says("so?")] }), named);
    expect(emulator.report().requests.at(-1)?.prefixStable).toBe(true);
  });
});

describe("the report", () => {
  test("says which thinking went back and which is missed, and so does the model", async () => {
    const emulator = await emulatorFor();
    const first = says("Think of a number.");
    const reply = await expectTaken(emulator, { ...adaptive, messages: [first] });
    const content = contentOf({ json: reply });
    const asking = says("Which number was it?");
    const kept = await expectTaken(emulator, { ...adaptive, messages: [first, assistant(content), asking] });
    expect(contentOf({ json: kept }).at(-1)?.["text"]).toMatch(/^I thought of \d+/);
    const [, sent] = emulator.report().requests;
    expect(sent).toMatchObject({ recall: 1, retention: 1, missing: [], dropped: [] });
    expect(sent?.sent).toEqual(sent?.issued);
    const bare = content.filter((block) => block["type"] === "text");
    const lost = await expectTaken(emulator, { ...adaptive, messages: [first, assistant(bare), asking] });
    expect(contentOf({ json: lost }).at(-1)?.["text"]).toMatch(/^I no longer have my notes/);
    const [one, , last] = emulator.report().requests;
    expect(last).toMatchObject({ conversation: one?.conversation, recall: 0, sent: [], missing: sent?.sent });
    // Another model could not have accepted it; with thinking off nothing is missed.
    const elsewhere = [first, assistant(bare), asking];
    await expectTaken(emulator, { ...adaptive, model: "emu-claude-bound", messages: elsewhere });
    expect(emulator.report().requests.at(-1)).toMatchObject({ recall: 1, acceptable: [] });
    await expectTaken(emulator, { ...adaptive, thinking: { type: "disabled" }, messages: elsewhere });
    expect(emulator.report().requests.at(-1)).toMatchObject({ recall: 1, acceptable: [] });
  });

  test("does not miss thoughts that a prefix-bound model could not have accepted", async () => {
    const emulator = await emulatorFor();
    const body = { ...adaptive, model: "emu-claude-bound" };
    const first = says("Think of a number.");
    const content = contentOf({ json: await expectTaken(emulator, { ...body, messages: [first] }) });
    const bare = assistant(content.filter((block) => block["type"] === "text"));
    await expectTaken(emulator, { ...body, messages: [first, bare, says("and?")] });
    expect(emulator.report().requests.at(-1)?.recall).toBe(0);
    const header = { "x-emulator-conversation": emulator.report().requests[0]?.conversation ?? "" };
    await expectTaken(emulator, { ...body, system: "New.", messages: [first, bare, says("and?")] }, header);
    expect(emulator.report().requests.at(-1)).toMatchObject({ recall: 1, acceptable: [] });
    expect(emulator.report().requests.at(-1)?.issued).not.toEqual([]);
  });

  test("lists what lenient mode answered and strict mode refuses", async () => {
    const emulator = await emulatorFor({ mode: "lenient" });
    const broken = [
      assistant([{ type: "thinking", thinking: "x", signature: "y" }]),
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: 5 }] },
      { role: "user", content: 7 },
    ];
    await expectTaken(emulator, { ...adaptive, messages: broken }, { "x-api-key": "" });
    const { tolerated } = emulator.report().requests[0] ?? {};
    expect(tolerated).toEqual(expect.arrayContaining(["X-type", "X-first", "C07", "C05", "C03"]));
  });

  test("does not record the key", async () => {
    const emulator = await emulatorFor();
    await expectTaken(
      emulator,
      { ...adaptive, messages: [says("hi")] },
      { "x-api-key": "sk-ant-secret-1234" },
    );
    expect(JSON.stringify(emulator.exchanges)).not.toContain("secret");
  });
});

describe("faults", () => {
  const body = { ...adaptive, messages: [says("hello")] };
  const play = async (fault: string) => {
    const emulator = await emulatorFor({ faults: parseFaults(fault) });
    const reply = await streamed(emulator, body);
    return { ...reply, report: emulator.report().requests[0] };
  };
  const outcomes: readonly (readonly [string, string])[] = [
    ["cut=after-item:0", "cut"],
    ["reset=after-event:4", "cut"],
    ["end=after-item:0", "no_terminal"],
    ["no-terminal", "no_terminal"],
    ["failed=overloaded_error,items:1", "failed"],
    ["error-event", "failed"],
    ["invalid-encrypted-content", "failed"],
    ["incomplete=max_tokens,items:1", "incomplete"],
    ["spliced-start=3", "completed"],
    ["unknown-event=2", "completed"],
    ["unknown-item", "completed"],
    ["duplicate-event=0", "completed"],
    ["bad-json=3", "completed"],
    ["late-ciphertext", "completed"],
    ["done-only", "completed"],
    ["keepalive=2;crlf;split=5", "completed"],
  ];
  test.each(outcomes)("%s ends as %s", async (fault, outcome) => {
    const { report } = await play(fault);
    expect(report?.outcome).toBe(outcome);
  });

  test("an error in the stream, and the same without a stream", async () => {
    const { events } = await play("error-event=nested,items:1");
    expect(events.at(-1)).toEqual({
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    });
    const emulator = await emulatorFor({ faults: parseFaults("failed=server_error") });
    const reply = await ask(emulator, body);
    expect([reply.status, reply.json]).toEqual([
      500,
      {
        type: "error",
        error: { type: "api_error", message: "Internal server error" },
        request_id: reply.headers.get("request-id"),
      },
    ]);
  });

  test("a spliced beginning: the abandoned message has another id", async () => {
    const { events } = await play("spliced-start=4");
    const ids = events.flatMap((event) =>
      event["type"] === "message_start" ? [(event["message"] as Json)["id"]] : [],
    );
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    expect(events.findLastIndex((event) => event["type"] === "message_start")).toBe(4);
  });

  test("the other faults change the events as documented", async () => {
    expect(types((await play("late-ciphertext")).events)).not.toContain(
      "content_block_delta signature_delta",
    );
    const whole = await play("done-only");
    expect(types(whole.events).some((name) => name.startsWith("content_block_delta"))).toBe(false);
    expect(assembled(whole.events).content.at(-1)?.["text"]).toContain("You said: “hello”");
    expect(types((await play("unknown-event=2")).events)[2]).toBe("emulator_surprise");
    const surprise = assembled((await play("unknown-item")).events).content;
    expect(surprise.map((block) => block["type"])).toEqual(["thinking", "emulator_surprise", "text"]);
    await expectTaken(await emulatorFor(), {
      ...adaptive,
      messages: [says("hello"), assistant(surprise), says("more")],
    });
  });

  test("only a completed message counts as issued", async () => {
    const emulator = await emulatorFor({ faults: parseFaults("cut=after-item:0") });
    await streamed(emulator, body);
    await expectTaken(emulator, body, { "x-emulator-conversation": "conversation-1" });
    expect(emulator.report().requests.at(-1)?.issued).toEqual([]);
  });
});

const folder = process.env["THROUGHLINE_FIXTURES"];
const recordings = [
  "anthropic-clear-thinking.1.chunks.txt",
  "anthropic-json-tool.1.chunks.txt",
  "anthropic-text.chunks.txt",
  "anthropic-tool-no-args.chunks.txt",
];

/** Newer than the recordings (messages.d.ts 3925). */
const newer = [
  "message_delta .usage.output_tokens_details.thinking_tokens",
  "message_delta .usage.output_tokens_details",
];

function shapes(events: readonly Json[]): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>();
  const walk = (value: unknown, path: string, into: Set<string>): void => {
    if (typeof value !== "object" || value === null) {
      into.add(`${path}: ${value === null ? "null" : typeof value}`);
      return;
    }
    into.add(`${path}: ${Array.isArray(value) ? "array" : "object"}`);
    if (path.endsWith(".input")) return;
    for (const [key, one] of Object.entries(value))
      walk(one, `${path}.${Array.isArray(value) ? "[]" : key}`, into);
  };
  for (const [index, event] of events.entries()) {
    const type = types(events)[index] ?? "";
    const set = all.get(type) ?? new Set<string>();
    walk(event, "", set);
    all.set(type, set);
  }
  return all;
}

if (folder === undefined) {
  process.stderr.write(
    `messages-wire: skipped ${recordings.length} recordings, THROUGHLINE_FIXTURES is not set\n`,
  );
}

async function ours(): Promise<readonly Json[]> {
  const emulator = await scripted(
    "steps: [{output: [{reasoning: I think.}, {message: Hello.}, {function_call: {name: json, arguments: {a: 1}}}]}]",
  );
  const { events } = await streamed(
    emulator,
    { ...adaptive, context_management: {}, messages: [says("go")] },
    { "anthropic-beta": "context-management-2025-06-27" },
  );
  return events;
}

test("the shapes are the ones that were compared with the recordings", async () => {
  const mine = lines(shapes(await ours()));
  await expect(`${mine.toSorted().join("\n")}\n`).toMatchFileSnapshot("shapes/anthropic-messages.txt");
});

test.skipIf(folder === undefined)(
  "every field of the recordings is there with its type, and nothing else",
  async () => {
    const recorded = recordings.flatMap((name) => {
      const path = join(folder ?? "", "anthropic", name);
      expect(existsSync(path), path).toBe(true);
      const rows = readFileSync(path, "utf8").split("\n");
      return rows.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Json);
    });
    const [real, mine] = [shapes(recorded), shapes(await ours())];
    const missing = lines(real).filter((line) => !lines(mine).includes(line));
    const strange = lines(mine).filter((line) => !lines(real).includes(line));
    expect(missing).toEqual([]);
    expect(strange.map((line) => line.replace(/: \w+$/, ""))).toEqual(newer);
  },
);

test("a tool result flagged as an error is read as one, whatever its text", async () => {
  const emulator = await emulatorFor();
  const tools = [
    { name: "read_file", input_schema: { type: "object", properties: { path: { type: "string" } } } },
  ];
  const first = says("Read notes.txt and summarise it.");
  const called = contentOf({ json: await expectTaken(emulator, { ...adaptive, tools, messages: [first] }) });
  const { content } = resultsFor(called, "Nothing of the kind.") as { readonly content: readonly Json[] };
  const told = async (more: object): Promise<string> => {
    const results = { role: "user", content: content.map((block) => ({ ...block, ...more })) };
    const messages = [first, assistant(called), results];
    return JSON.stringify(contentOf({ json: await expectTaken(emulator, { ...adaptive, tools, messages }) }));
  };
  expect(await told({ is_error: true })).toContain("That did not work: Nothing of the kind.");
  expect(await told({})).toContain("notes.txt has 1 line");
});
