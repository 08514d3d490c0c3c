/**
 * One conversation in the shapes in which other tools store it: a question, a thought with a call, its result, a
 * thought with an answer. Payloads are the emulator's own, so that a repaired file can be sent.
 */

import type { Json } from "../emulator/emulator-client.ts";

/** The conversation, in neutral terms. */
export interface Told {
  readonly callId: string;
  readonly args: Json;
  /** Exact Responses items, or undefined. */
  readonly items?: {
    readonly first: Json;
    readonly call: Json;
    readonly second: Json;
    readonly answer: Json;
  };
  /** Exact blocks of the Messages API, or undefined. */
  readonly blocks?: {
    readonly first: Json;
    readonly call: Json;
    readonly second: Json;
    readonly answer: Json;
  };
}

const lines = (values: readonly unknown[]): string =>
  `${values.map((value) => JSON.stringify(value)).join("\n")}\n`;
const array = (values: readonly unknown[]): string => JSON.stringify(values, undefined, 2);
const AT = "2026-11-01T10:00:00.000Z";

export function codexRollout({ items, callId }: Told): string {
  const item = (payload: unknown): Json => ({ timestamp: AT, type: "response_item", payload });
  return lines([
    { timestamp: AT, type: "session_meta", payload: { id: "0199", cwd: "/w", cli_version: "0.166.0" } },
    { timestamp: AT, type: "turn_context", payload: { cwd: "/w", model: "emu-reasoner" } },
    item({ type: "message", role: "user", content: [{ type: "input_text", text: "Weather?" }] }),
    { timestamp: AT, type: "event_msg", payload: { type: "user_message", message: "Weather?" } },
    item(items?.first),
    item(items?.call),
    { timestamp: AT, type: "event_msg", payload: { type: "token_count", info: null } },
    item({ type: "function_call_output", call_id: callId, output: "sunny" }),
    item(items?.second),
    item(items?.answer),
  ]);
}

const responsesAnswer = (content: readonly unknown[]): Json => ({
  role: "assistant",
  content,
  api: "openai-responses",
  provider: "openai",
  model: "emu-reasoner",
  stopReason: "stop",
  timestamp: 2,
});

export function piResponses({ items, callId, args }: Told): string {
  const id = `${callId}|${String(items?.call["id"])}`;
  return piLines([
    { role: "user", content: "Weather?", timestamp: 1 },
    responsesAnswer([
      { type: "thinking", thinking: "", thinkingSignature: JSON.stringify(items?.first) },
      { type: "toolCall", id, name: "weather", arguments: args },
    ]),
    {
      role: "toolResult",
      toolCallId: id,
      toolName: "weather",
      content: [{ type: "text", text: "sunny" }],
      isError: false,
    },
    responsesAnswer([
      { type: "thinking", thinking: "", thinkingSignature: JSON.stringify(items?.second) },
      {
        type: "text",
        text: "It is sunny.",
        textSignature: JSON.stringify({ v: 1, id: items?.answer["id"] }),
      },
    ]),
  ]);
}

const piThinking = (block: Json | undefined): Json => ({
  type: "thinking",
  thinking: block?.["thinking"],
  thinkingSignature: block?.["signature"],
});

const claudeAnswer = (content: readonly unknown[]): Json => ({
  role: "assistant",
  content,
  api: "anthropic-messages",
  provider: "anthropic",
  model: "emu-claude",
  stopReason: "stop",
});

export function piAnthropic({ blocks, callId, args }: Told): string {
  return piLines([
    { role: "user", content: "Weather?" },
    claudeAnswer([
      piThinking(blocks?.first),
      { type: "toolCall", id: callId, name: "weather", arguments: args },
    ]),
    {
      role: "toolResult",
      toolCallId: callId,
      toolName: "weather",
      content: [{ type: "text", text: "sunny" }],
      isError: false,
    },
    claudeAnswer([piThinking(blocks?.second), { type: "text", text: "It is sunny." }]),
  ]);
}

function piLines(messages: readonly Json[]): string {
  const header = { type: "session", version: 3, id: "s-1", timestamp: AT, cwd: "/w" };
  const entries = messages.map((message, n) => ({
    type: "message",
    id: `e000000${n}`,
    parentId: n === 0 ? null : `e000000${n - 1}`,
    timestamp: AT,
    message,
  }));
  return lines([header, ...entries]);
}

const claudeLine = (id: string, block: Json | undefined): Json => ({
  id,
  type: "message",
  role: "assistant",
  model: "emu-claude",
  content: [block],
  stop_reason: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});

export function claudeCode({ blocks, callId }: Told): string {
  const envelope = (n: number, type: string, message: Json): Json => ({
    parentUuid: n === 0 ? null : uuid(n - 1),
    isSidechain: false,
    sessionId: "s-1",
    version: "2.1.230",
    type,
    message,
    uuid: uuid(n),
    timestamp: AT,
  });
  return lines([
    { type: "summary", summary: "Weather", leafUuid: uuid(5) },
    envelope(0, "user", { role: "user", content: "Weather?" }),
    envelope(1, "assistant", claudeLine("msg_1", blocks?.first)),
    envelope(2, "assistant", claudeLine("msg_1", blocks?.call)),
    envelope(3, "user", {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: callId, content: "sunny" }],
    }),
    envelope(4, "assistant", claudeLine("msg_2", blocks?.second)),
    envelope(5, "assistant", claudeLine("msg_2", blocks?.answer)),
  ]);
}

function uuid(n: number): string {
  return `00000000-0000-4000-8000-00000000000${n}`;
}

export function aiSdkUi({ items, callId, args }: Told): string {
  return array([
    { id: "m1", role: "user", parts: [{ type: "text", text: "Weather?" }] },
    {
      id: "m2",
      role: "assistant",
      parts: [
        { type: "step-start" },
        reasoningPart(items?.first, "providerMetadata"),
        { type: "tool-weather", toolCallId: callId, state: "output-available", input: args, output: "sunny" },
        { type: "step-start" },
        reasoningPart(items?.second, "providerMetadata"),
        {
          type: "text",
          text: "It is sunny.",
          state: "done",
          providerMetadata: { openai: { itemId: items?.answer["id"] } },
        },
      ],
    },
  ]);
}

function reasoningPart(item: Json | undefined, key: string): Json {
  const openai = { itemId: item?.["id"], reasoningEncryptedContent: item?.["encrypted_content"] };
  return { type: "reasoning", text: "", [key]: { openai } };
}

export function aiSdkModel({ items, callId, args }: Told): string {
  return array([
    { role: "user", content: "Weather?" },
    {
      role: "assistant",
      content: [
        reasoningPart(items?.first, "providerOptions"),
        { type: "tool-call", toolCallId: callId, toolName: "weather", input: args },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: callId,
          toolName: "weather",
          output: { type: "text", value: "sunny" },
        },
      ],
    },
    {
      role: "assistant",
      content: [
        reasoningPart(items?.second, "providerOptions"),
        { type: "text", text: "It is sunny.", providerOptions: { openai: { itemId: items?.answer["id"] } } },
      ],
    },
  ]);
}

export function langchain({ blocks, callId, args }: Told): string {
  return array([
    { type: "human", data: { content: "Weather?", type: "human" } },
    {
      type: "ai",
      data: {
        content: [
          { ...blocks?.first, index: 0 },
          { ...blocks?.call, index: 1 },
        ],
        tool_calls: [{ name: "weather", args, id: callId, type: "tool_call" }],
        type: "ai",
      },
    },
    { type: "tool", data: { content: "sunny", tool_call_id: callId, type: "tool" } },
    { type: "ai", data: { content: [blocks?.second, blocks?.answer], tool_calls: [], type: "ai" } },
  ]);
}

const constructed = (name: string, kwargs: Json): Json => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "messages", name],
  kwargs,
});

export function langchainChat({ callId, args }: Told): string {
  return array([
    constructed("HumanMessage", { content: "Weather?" }),
    constructed("AIMessage", {
      content: "",
      tool_calls: [{ name: "weather", args, id: callId, type: "tool_call" }],
    }),
    constructed("ToolMessage", { content: "sunny", tool_call_id: callId }),
    constructed("AIMessage", { content: "It is sunny.", tool_calls: [] }),
  ]);
}

const agentsThought = (item: Json | undefined): Json => ({
  type: "reasoning",
  id: item?.["id"],
  content: [],
  providerData: { encryptedContent: item?.["encrypted_content"] },
});

export function agentsSdk({ items, callId }: Told): string {
  return array([
    { type: "message", role: "user", content: "Weather?" },
    agentsThought(items?.first),
    {
      type: "function_call",
      id: items?.call["id"],
      callId,
      name: "weather",
      arguments: items?.call["arguments"],
      status: "completed",
    },
    {
      type: "function_call_result",
      name: "weather",
      callId,
      status: "completed",
      output: { type: "text", text: "sunny" },
    },
    agentsThought(items?.second),
    {
      type: "message",
      role: "assistant",
      id: items?.answer["id"],
      status: "completed",
      content: [{ type: "output_text", text: "It is sunny." }],
    },
  ]);
}
