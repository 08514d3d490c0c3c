/**
 * Tools that the API runs itself: a call and its result go together (C19), waiting code names its container (C17), and
 * a waiting turn continues. Answers with such blocks come from scenarios, block by block as written.
 */

import { describe, expect, test } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import { type Json, scripted } from "./emulator-client.ts";
import {
  adaptive,
  assembled,
  assistant,
  contentOf,
  expectRefused,
  expectTaken,
  resultsFor,
  says,
  streamed,
} from "./messages-client.ts";

const tools = [
  { type: "web_search_20250305", name: "web_search" },
  { name: "look", input_schema: { type: "object" } },
];
const settings = { ...adaptive, tools };
const ask = (messages: readonly Json[], more: Json = {}): Json => ({ ...settings, ...more, messages });
const first = says("go");

const call = (name: string, id: string): Json => ({ type: "server_tool_use", id, name, input: {} });
const result = (type: string, id: string): Json => ({ type, tool_use_id: id, content: [] });
const text = (words: string): Json => ({ type: "text", text: words });

const unpaired = (
  path: string,
  name: string,
  id: string,
  type: string,
): { rule: string; message: string } => ({
  rule: "C19",
  message: `${path}: \`${name}\` tool use with id \`${id}\` was found without a corresponding \`${type}\` block`,
});

const answerOf = async (emulator: Emulator, body: Json): Promise<Json[]> =>
  contentOf({ json: await expectTaken(emulator, body) });

/** With text before them, so paths count from 1. */
const history = (blocks: readonly Json[]): Json =>
  ask([first, assistant([text("Hm."), ...blocks]), says("so?")]);

const bare = (content: readonly Json[]): unknown =>
  content.filter((block) => block["type"] !== "thinking" && block["type"] !== "compaction");

/** Code that waits for a client tool. */
const waiting = (caller: string): string => `
steps:
  - container: {id: container_011, expires_at: "2099-05-05T00:00:00Z"}
    output:
      - item: {type: server_tool_use, id: srvtoolu_code, name: code_execution, input: {code: look()}}
      - item: {type: tool_use, id: toolu_look, name: look, input: {}${caller}}
  - output: [{message: Done.}]
`;

const types = (content: readonly Json[]): unknown => content.map((block) => block["type"]);

describe("C19: a call and its result go together", () => {
  const kinds = [
    ["web_search", "web_search_tool_result"],
    ["web_fetch", "web_fetch_tool_result"],
    ["code_execution", "code_execution_tool_result"],
    ["bash_code_execution", "bash_code_execution_tool_result"],
    ["text_editor_code_execution", "text_editor_code_execution_tool_result"],
    ["tool_search_tool_regex", "tool_search_tool_result"],
    ["advisor", "advisor_tool_result"],
  ] as const;

  test.each(kinds)("%s", async (name, type) => {
    const emulator = await scripted("steps: []");
    await expectRefused(
      emulator,
      history([call(name, "srvtoolu_a")]),
      unpaired("messages.1.content.1", name, "srvtoolu_a", type),
    );
    await expectRefused(emulator, history([result(type, "srvtoolu_a")]), {
      rule: "C19",
      message: `messages.1.content.1: unexpected \`tool_use_id\` found in \`${type}\` blocks: srvtoolu_a. Each \`${type}\` block must have a corresponding \`server_tool_use\` block before it.`,
    });
    await expectTaken(emulator, history([call(name, "srvtoolu_a"), result(type, "srvtoolu_a")]));
  });

  test("for tools of MCP servers too", async () => {
    const emulator = await scripted("steps: []");
    const asked = { ...call("find", "mcptoolu_a"), type: "mcp_tool_use", server_name: "files" };
    await expectRefused(
      emulator,
      history([asked]),
      unpaired("messages.1.content.1", "find", "mcptoolu_a", "mcp_tool_result"),
    );
    await expectRefused(emulator, history([result("mcp_tool_result", "mcptoolu_a")]), {
      rule: "C19",
      message:
        "messages.1.content.1: unexpected `tool_use_id` found in `mcp_tool_result` blocks: mcptoolu_a. Each `mcp_tool_result` block must have a corresponding `mcp_tool_use` block before it.",
    });
    await expectTaken(emulator, history([asked, result("mcp_tool_result", "mcptoolu_a")]));
  });

  test("the result may be in a later answer of the same turn, but not in a later turn", async () => {
    const emulator = await scripted("steps: []");
    const use = { type: "tool_use", id: "toolu_a", name: "look", input: {} };
    const open = [first, assistant([call("web_search", "srvtoolu_a"), use]), resultsFor([use])];
    const late = assistant([result("web_search_tool_result", "srvtoolu_a"), text("Found.")]);
    await expectTaken(emulator, ask([...open, late, says("so?")]));
    await expectRefused(
      emulator,
      ask([...open, says("stop"), late, says("so?")]),
      unpaired("messages.1.content.0", "web_search", "srvtoolu_a", "web_search_tool_result"),
    );
    const words = { role: "user", content: [...(resultsFor([use])["content"] as Json[]), text("Quick!")] };
    await expectRefused(
      emulator,
      ask([...open.slice(0, 2), words]),
      unpaired("messages.1.content.0", "web_search", "srvtoolu_a", "web_search_tool_result"),
    );
  });

  test("C09: an id that the API cannot have made", async () => {
    const emulator = await scripted("steps: []");
    const foreign = [call("web_search", "call_1"), result("web_search_tool_result", "call_1")];
    await expectRefused(emulator, ask([first, assistant(foreign), says("so?")]), {
      rule: "C09",
      message:
        "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
    });
  });
});

describe("a waiting turn continues", () => {
  test("after a paused search: its result begins the next answer, and the whole is accepted back", async () => {
    const emulator = await scripted(`
steps:
  - status: incomplete
    reason: pause_turn
    output:
      - reasoning: I must look.
      - item: {type: server_tool_use, name: web_search, input: {query: news}}
  - output: [{reasoning: There.}, {message: Here it is.}]
`);
    const paused = await expectTaken(emulator, ask([first]));
    expect([paused["stop_reason"], types(contentOf({ json: paused }))]).toEqual([
      "pause_turn",
      ["thinking", "server_tool_use"],
    ]);
    const more = [first, assistant(contentOf({ json: paused }))];
    const rest = await answerOf(emulator, ask(more));
    expect(types(rest)).toEqual(["web_search_tool_result", "thinking", "text"]);
    expect(rest[0]?.["tool_use_id"]).toBe(contentOf({ json: paused })[1]?.["id"]);
    await expectTaken(emulator, ask([...more, assistant(rest), says("thanks")]));
    expect(emulator.report().requests.at(-1)).toMatchObject({ recall: 1, missing: [] });
    await expectRefused(
      emulator,
      ask([...more, says("thanks")]),
      unpaired(
        "messages.1.content.1",
        "web_search",
        String(rest[0]?.["tool_use_id"]),
        "web_search_tool_result",
      ),
    );
  });

  test("with a search next to a client tool, followed by the built-in model", async () => {
    const emulator = await scripted(`
steps:
  - output:
      - item: {type: server_tool_use, name: web_search, input: {query: news}}
      - function_call: {name: look}
`);
    const content = await answerOf(emulator, ask([first]));
    const next = [first, assistant(content), resultsFor(content)];
    const rest = await answerOf(emulator, ask(next));
    expect(rest[0]).toMatchObject({ type: "web_search_tool_result", tool_use_id: content[0]?.["id"] });
    await expectTaken(emulator, ask([...next, assistant(rest), says("thanks")]));
  });
});

describe("C17: waiting code names its container", () => {
  const needed = {
    rule: "C17",
    message:
      "container_id is required when there are pending tool uses generated by code execution with tools.",
  };
  const generated = ", caller: {type: code_execution_20260120, tool_id: srvtoolu_code}";

  test.each([
    ["called by the code", generated],
    ["called by the model", ""],
  ])("a client tool %s", async (_name, caller) => {
    const emulator = await scripted(waiting(caller));
    const reply = await expectTaken(emulator, ask([first]));
    expect([reply["stop_reason"], reply["container"]]).toEqual([
      "tool_use",
      { id: "container_011", expires_at: "2099-05-05T00:00:00Z" },
    ]);
    const content = contentOf({ json: reply });
    const next = [first, assistant(content), resultsFor(content)];
    await expectRefused(emulator, ask(next), needed);
    await expectRefused(emulator, ask(next, { container: { skills: [] } }), needed);
    const rest = await answerOf(emulator, ask(next, { container: "container_011" }));
    expect(types(rest)).toEqual(["code_execution_tool_result", "text"]);
    await expectTaken(emulator, ask([...next, assistant(rest), says("so?")]));
  });

  test("switch pendingContainer: only if the code has called something", async () => {
    for (const [caller, refused] of [
      [generated, true],
      ["", false],
    ] as const) {
      const emulator = await scripted(waiting(caller), { switches: { pendingContainer: "generated" } });
      const content = await answerOf(emulator, ask([first]));
      const body = ask([first, assistant(content), resultsFor(content)]);
      if (refused) await expectRefused(emulator, body, needed);
      else await expectTaken(emulator, body);
    }
  });

  test("code that calls tools twice keeps waiting, and its own result comes last", async () => {
    const emulator = await scripted(`
steps:
  - container: {id: container_011}
    output:
      - item: {type: server_tool_use, id: srvtoolu_code, name: code_execution, input: {code: look()}}
      - item: {type: tool_use, id: toolu_1, name: look, input: {}${generated}}
  - container: {id: container_011}
    output:
      - item: {type: tool_use, id: toolu_2, name: look, input: {}${generated}}
  - output: [{message: Done.}]
`);
    const container = { container: "container_011" };
    const one = await answerOf(emulator, ask([first]));
    const next = [first, assistant(one), resultsFor(one)];
    const two = await answerOf(emulator, ask(next, container));
    expect(types(two)).toEqual(["tool_use"]);
    const last = [...next, assistant(two), resultsFor(two)];
    await expectRefused(emulator, ask(last), needed);
    expect(types(await answerOf(emulator, ask(last, container)))).toEqual([
      "code_execution_tool_result",
      "text",
    ]);
  });

  test("in a stream the container is at the end, and at the beginning once the request names it", async () => {
    const emulator = await scripted(`${waiting(generated)}afterwards: repeat`);
    const { events } = await streamed(emulator, ask([first]));
    expect(events[0]?.["message"]).not.toHaveProperty("container");
    const delta = events.find((event) => event["type"] === "message_delta")?.["delta"];
    expect(delta).toMatchObject({ container: { id: "container_011" } });
    await streamed(emulator, ask([first]));
    const named = await streamed(emulator, ask([first], { container: "container_011" }));
    expect(named.events[0]?.["message"]).toMatchObject({ container: { id: "container_011" } });
  });
});

describe("blocks as a scenario writes them", () => {
  const script = `
afterwards: repeat
steps:
  - output:
      - reasoning: First.
      - item: {type: fallback, from: {model: a}, to: {model: b}, trigger: {type: refusal, category: cyber}}
      - reasoning: Second.
      - item: {type: mcp_tool_listing, mcp_server_name: files, tools: []}
      - item: {type: mcp_tool_use, id: mcptoolu_1, name: find, server_name: files, input: {a: 1}}
      - item: {type: mcp_tool_result, tool_use_id: mcptoolu_1, is_error: false, content: []}
      - item: {type: server_tool_use, id: srvtoolu_1, name: advisor, input: {question: why}}
      - item: {type: advisor_tool_result, tool_use_id: srvtoolu_1, content: {type: advisor_result, text: so}}
      - item: {type: server_tool_use, id: srvtoolu_2, name: oracle, input: {}}
      - item: {type: oracle_tool_result, tool_use_id: srvtoolu_2, content: {answer: 42}}
      - item: {type: container_upload, file_id: file_1}
      - item: {type: compaction, content: In short., encrypted_content: EsQ}
      - item: {type: oracle_mood, mood: fine}
      - message: Done.
`;

  test("are the same streamed and whole, and are accepted back", async () => {
    const emulator = await scripted(script);
    const whole = await answerOf(emulator, ask([first]));
    const stream = assembled((await streamed(emulator, ask([first]))).events);
    expect(bare(stream.content)).toEqual(bare(whole));
    expect(whole[9]).toEqual({
      type: "oracle_tool_result",
      tool_use_id: "srvtoolu_2",
      content: { answer: 42 },
    });
    await expectTaken(emulator, ask([first, assistant(whole), says("so?")]));
    await expectRefused(
      emulator,
      ask([first, assistant(whole.filter((_, at) => at !== 9)), says("so?")]),
      unpaired("messages.1.content.8", "oracle", "srvtoolu_2", "oracle_tool_result"),
    );
  });

  test("include a compaction, which arrives as one delta", async () => {
    const emulator = await scripted(script);
    const { events } = await streamed(emulator, ask([first]));
    const deltas = events
      .filter((event) => event["index"] === 11)
      .map(({ delta, content_block: block }) => delta ?? block);
    expect(deltas).toEqual([
      { type: "compaction", content: null, encrypted_content: "EsQ" },
      { type: "compaction_delta", content: "In short.", encrypted_content: "EsQ" },
      undefined,
    ]);
  });

  test("C01, C03: include a fallback, which stays between the thoughts of two models", async () => {
    const emulator = await scripted(script);
    const whole = await answerOf(emulator, ask([first]));
    const merged = whole.filter((block) => block["type"] !== "fallback");
    const path = "messages.1.content.1";
    await expectRefused(emulator, ask([first, assistant(merged), says("so?")]), {
      rule: "C01",
      message: `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
    });
    const later = [says("so?"), assistant([text("So.")]), says("thanks")];
    await expectRefused(emulator, ask([first, assistant(merged), ...later]), {
      rule: "C03",
      message: `${path}: Invalid \`signature\` in \`thinking\` block`,
    });
    await expectTaken(emulator, ask([first, assistant(whole), ...later]));
  });
});
