/** Blocks, deltas and message starts that Claude sends besides text, thoughts and calls. */

import { describe, expect, test } from "vitest";

import { MessagesDecoder } from "../../src/runtime/providers/anthropic-messages/index.ts";
import type { ItemDraft, StreamEnd } from "../../src/runtime/providers/provider.ts";
import {
  claudeBench,
  claudeSays,
  messageEvents,
  messagesOf,
  serverResult,
  text,
  thinking,
  toolUse,
} from "./claude-harness.ts";
import { ClaudeLog } from "./claude-log.ts";
import { echoTool, type Json, ofType } from "./harness.ts";

function decoded(events: readonly Json[]): { readonly items: readonly ItemDraft[]; readonly end: StreamEnd } {
  const decoder = new MessagesDecoder();
  const frames = events.map((event) => ({ event: "", data: JSON.stringify(event) }));
  const out = [...decoder.feed(frames), ...decoder.close()];
  const [end] = out.flatMap((event) => (event.type === "end" ? [event.end] : []));
  if (end === undefined) throw new Error("no end");
  return {
    items: out
      .flatMap((event) => (event.type === "item_done" ? [event.draft] : []))
      .toSorted((a, b) => a.outputIndex - b.outputIndex),
    end,
  };
}

const itemsOf = (events: readonly Json[]): readonly unknown[] =>
  decoded(events).items.map(({ item }) => JSON.parse(item) as unknown);

/** A message whose only block gets these deltas. */
function streamed(block: Json, ...deltas: readonly Json[]): readonly Json[] {
  const [start, ...rest] = messageEvents([block]);
  const [begin, ...end] = rest;
  return [
    start,
    begin,
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    ...end,
  ] as readonly Json[];
}

const OTHERS: Readonly<Record<string, Json>> = {
  mcp_tool_listing: {
    type: "mcp_tool_listing",
    mcp_server_name: "wiki",
    tools: [{ name: "ask", input_schema: { type: "object" } }],
  },
  container_upload: { type: "container_upload", file_id: "file_1" },
  compaction: {
    type: "compaction",
    content: "So far.",
    encrypted_content: "gAAA",
    signature: "sig",
    tool_changes: [],
  },
  fallback: {
    type: "fallback",
    from: { model: "claude-fable-5" },
    to: { model: "claude-opus-4-8" },
    trigger: { type: "refusal", category: "cyber" },
  },
};

describe("blocks that the provider makes", () => {
  test.each(Object.entries(OTHERS))(
    "%s goes back in its place, with the fields that the input accepts",
    (_, block) => {
      const log = new ClaudeLog()
        .user()
        .answer([thinking("a"), { ...block, later: 1 }, thinking("b"), text("Hello.")])
        .user();
      expect(log.render().violations).toEqual([]);
      const [, answer] = log.body()["messages"] as readonly { readonly content: readonly Json[] }[];
      expect(answer?.content).toEqual([thinking("a"), block, thinking("b"), text("Hello.")]);
    },
  );

  test("an MCP call goes back with its result", () => {
    const pair = [
      { type: "mcp_tool_use", id: "mcptoolu_1", name: "ask", server_name: "wiki", input: { q: "x" } },
      { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [text("yes")] },
    ];
    const log = new ClaudeLog()
      .user()
      .answer([...pair, text("Yes.")])
      .user();
    const [, answer] = log.body()["messages"] as readonly { readonly content: readonly Json[] }[];
    expect(answer?.content).toEqual([...pair, text("Yes.")]);
  });

  test("a block of an unknown type is kept, not sent, and costs no thought", () => {
    const log = new ClaudeLog()
      .user()
      .answer([thinking("a"), { type: "tomorrow_block", secret: "s" }, text("Hello.")])
      .user();
    expect(messagesOf(log.body())[1]).toBe("assistant: thinking text");
    expect(ofType(log.events, "other_item").map(({ item }) => JSON.parse(item) as unknown)).toEqual([
      { type: "tomorrow_block", secret: "s" },
    ]);
  });
});

describe("deltas", () => {
  test("a compaction_delta fills the block", () => {
    const events = streamed(
      { type: "compaction", content: null, encrypted_content: null },
      { type: "compaction_delta", content: "So far.", encrypted_content: "gAAA", signature: "sig" },
    );
    expect(itemsOf(events)).toEqual([
      { type: "compaction", content: "So far.", encrypted_content: "gAAA", signature: "sig" },
    ]);
    expect(decoded(events).end.unknown).toBeUndefined();
  });

  test.each([
    ["a text", text("Hi."), { type: "tomorrow_delta", tomorrow: "x" }],
    ["a thought", thinking("hm"), { type: "text_delta", text: "in the wrong place" }],
    ["a call", toolUse("toolu_1", "x"), { type: "compaction_delta", content: "no" }],
    [
      "a result",
      serverResult("srvtoolu_1", "web_search_tool_result"),
      { type: "input_json_delta", partial_json: "{" },
    ],
    ["a block of an unknown type", { type: "tomorrow_block" }, { type: "text_delta", text: "words" }],
  ])("%s keeps a delta that does not belong to it, for people only", (_, block, delta) => {
    const events = streamed(block, delta, delta);
    expect(itemsOf(events)).toEqual([{ ...block, deltas: [delta, delta] }]);
    expect(decoded(events).end.unknown).toMatchObject({ [`delta ${delta.type}`]: 2 });
  });

  test("such a kept delta is never sent", async () => {
    const { ask, server } = await claudeBench(() => ({
      events: streamed(text("Hi."), { type: "tomorrow_delta", tomorrow: "secret" }),
    }));
    await ask("Hello.");
    await ask("Again.");
    expect(JSON.stringify(server.bodies)).not.toContain("secret");
  });

  test("citations are added to a text that began without any", () => {
    const citation = { type: "char_location", cited_text: "x" };
    expect(itemsOf(streamed(text("Hi."), { type: "citations_delta", citation }))).toEqual([
      { ...text("Hi."), citations: [citation] },
    ]);
  });

  test("a call that began without an input gets one", () => {
    const bare = { type: "tool_use", id: "toolu_1", name: "look_up" };
    expect(itemsOf(streamed(bare))).toEqual([{ ...bare, input: {} }]);
    expect(itemsOf(streamed(bare, { type: "input_json_delta", partial_json: '{"q":1}' }))).toEqual([
      { ...bare, input: { q: 1 } },
    ]);
  });
});

const beginning = (content: readonly Json[], ...rest: readonly Json[]): readonly Json[] => {
  const [start, delta, stop] = messageEvents([], { stop: "tool_use" }) as readonly [Json, Json, Json];
  return [{ ...start, message: { ...(start["message"] as Json), content } }, ...rest, delta, stop];
};
const block = (index: number, content_block: Json): readonly Json[] => [
  { type: "content_block_start", index, content_block },
  { type: "content_block_stop", index },
];

describe("a message that begins with blocks", () => {
  const ran = serverResult("srvtoolu_c", "code_execution_tool_result");
  const call = toolUse("toolu_1", "x");
  test("has exactly those blocks", () => {
    expect(itemsOf(beginning([ran, call]))).toEqual([ran, call]);
  });

  test("has them, and an end, even if only message_stop follows", () => {
    const [start] = messageEvents([]) as readonly [Json];
    const container = { id: "container_1", expires_at: "2099-01-01T00:00:00Z" };
    const message = {
      ...(start["message"] as Json),
      content: [ran, call],
      stop_reason: "tool_use",
      container,
    };
    const { items, end } = decoded([{ ...start, message }, { type: "message_stop" }]);
    expect(items.map(({ itemType }) => itemType)).toEqual(["code_execution_tool_result", "tool_use"]);
    expect(end).toMatchObject({ status: "completed", container: { id: "container_1" } });
  });

  test("continues after them", () => {
    expect(itemsOf(beginning([ran], ...block(1, text("Done."))))).toEqual([ran, text("Done.")]);
  });

  test("may restart its block count after them", () => {
    expect(itemsOf(beginning([ran, call], ...block(0, text("Done.")), ...block(1, thinking("hm"))))).toEqual([
      ran,
      call,
      text("Done."),
      thinking("hm"),
    ]);
  });

  test("may stream the same blocks again, which then count once", () => {
    expect(
      itemsOf(beginning([ran, call], ...block(0, ran), ...block(1, call), ...block(2, text("Done.")))),
    ).toEqual([ran, call, text("Done.")]);
    expect(itemsOf(beginning([text("")], ...block(0, text("Hello."))))).toEqual([text("Hello.")]);
  });

  test("runs the tools it calls", async () => {
    const look = echoTool();
    const { ask } = await claudeBench(
      (_, request) =>
        request === 1 ? { events: beginning([call]) } : claudeSays([text("Done.")], { id: "msg_2" }),
      { tools: [look] },
    );
    expect(await ask("Look.")).toBe("Done.");
    expect(look.runs).toEqual(["x"]);
  });
});

test("a pause after a summary continues automatically", async () => {
  const { ask, server, log } = await claudeBench((_, request) =>
    request === 1
      ? claudeSays([OTHERS["compaction"] as Json], { stop: "compaction" })
      : claudeSays([text("Here I am.")], { id: "msg_2" }),
  );
  expect(await ask("Hello.")).toBe("Here I am.");
  expect(messagesOf(server.bodies[1])).toEqual(["user: text", "assistant: compaction", "user: text"]);
  expect(ofType(await log(), "response_end")[0]).toMatchObject({ status: "completed", reason: "compaction" });
});

test("when another model takes over, the first model's calls are void and its thoughts stay", async () => {
  const look = echoTool();
  const { ask, server, log } = await claudeBench(
    (_, request) =>
      request === 1
        ? claudeSays(
            [
              thinking("fable"),
              toolUse("toolu_void", "void"),
              OTHERS["fallback"] as Json,
              thinking("opus"),
              toolUse("toolu_1", "x"),
            ],
            { stop: "tool_use" },
          )
        : claudeSays([text("Done.")], { id: "msg_2" }),
    { tools: [look] },
  );
  expect(await ask("Look.")).toBe("Done.");
  expect(look.runs).toEqual(["x"]);
  expect(messagesOf(server.bodies[1])).toEqual([
    "user: text",
    "assistant: thinking fallback thinking tool_use",
    "user: tool_result",
  ]);
  expect(ofType(await log(), "response_end")[0]?.servedModel).toBe("claude-opus-4-8");
});

test("a notice reports what the provider cleared from the request", async () => {
  const { ask, log } = await claudeBench(() => {
    const events = messageEvents([text("Hi.")]).map((event) =>
      event["type"] === "message_delta"
        ? {
            ...event,
            context_management: {
              applied_edits: [
                { type: "clear_tool_uses_20250919", cleared_input_tokens: 5000, cleared_tool_uses: 3 },
              ],
            },
          }
        : event,
    );
    return { events };
  });
  await ask("Hello.");
  const events = await log();
  expect(ofType(events, "response_end")[0]?.appliedEdits).toEqual([
    { type: "clear_tool_uses_20250919", clearedTokens: 5000, clearedToolUses: 3 },
  ]);
  expect(ofType(events, "notice").map(({ code, message }) => [code, message])).toEqual([
    [
      "context_edited",
      "the provider cleared 5000 tokens of the conversation before it answered (clear_tool_uses_20250919); the log still has them",
    ],
  ]);
});

test("the end of an answer reports thoughts that the serving model did not read", () => {
  const events = messageEvents([text("Hi.")]).map((event) =>
    event["type"] === "message_delta"
      ? {
          ...event,
          input_transformations: [
            { type: "thinking_dropped", path: "messages.1.content.0", reason: "model_binding_mismatch" },
          ],
        }
      : event,
  );
  expect(decoded(events).end.unread).toEqual([
    { path: "messages.1.content.0", reason: "model_binding_mismatch" },
  ]);
});
