/** A session on a server that answers as Claude does, with the blocks a test names. */

import { anthropic, type AnthropicOptions, type Model } from "../../src/index.ts";
import {
  type Answer,
  type Bench,
  type Json,
  KEY,
  type Options,
  scriptedServer,
  sessionOn,
} from "./harness.ts";
import type { ScriptedServer } from "./harness.ts";

export interface ClaudeBench extends Omit<Bench, "emulator"> {
  readonly server: ScriptedServer;
  /** Another model of the same account. */
  readonly claude: (name: string, more?: AnthropicOptions) => Model;
}

export async function claudeBench(
  answer: (body: Json, request: number) => Answer,
  options: Pick<Options, "agent" | "tools"> & {
    readonly model?: string;
    readonly anthropic?: AnthropicOptions;
  } = {},
): Promise<ClaudeBench> {
  const server = await scriptedServer(answer);
  const claude = (name: string, more: AnthropicOptions = {}): Model =>
    anthropic(name, {
      apiKey: KEY,
      baseUrl: server.baseUrl.replace(/\/v1$/, ""),
      ...options.anthropic,
      ...more,
    });
  const model = claude(options.model ?? "claude-sonnet-5");
  return Object.assign(await sessionOn(() => model, options), { server, claude });
}

export interface ClaudeAnswer {
  readonly id?: string;
  readonly stop?: string;
  /** More fields of the message, of its last delta and of its usage. */
  readonly message?: Json;
  readonly delta?: Json;
  readonly usage?: Json;
}

/** The events of a whole message with these blocks. */
export function messageEvents(blocks: readonly Json[], answer: ClaudeAnswer = {}): readonly Json[] {
  const { id = "msg_1", stop = "end_turn", message = {}, delta = {}, usage = {} } = answer;
  const about = { id, type: "message", role: "assistant", model: "claude-sonnet-5", content: [] };
  return [
    {
      type: "message_start",
      message: { ...about, usage: { input_tokens: 10, output_tokens: 1 }, ...message },
    },
    ...blocks.flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: stop, ...delta }, usage: { output_tokens: 5, ...usage } },
    { type: "message_stop" },
  ];
}

export const claudeSays = (blocks: readonly Json[], answer?: ClaudeAnswer): Answer => ({
  events: messageEvents(blocks, answer),
});

export const text = (words: string): Json => ({ type: "text", text: words });
export const thinking = (words: string, signature = `sig-${words}`): Json => ({
  type: "thinking",
  thinking: words,
  signature,
});
export const toolUse = (id: string, q: string, more: Json = {}): Json => ({
  type: "tool_use",
  id,
  name: "look_up",
  input: { q },
  ...more,
});
export const serverUse = (id: string, name: string, more: Json = {}): Json => ({
  type: "server_tool_use",
  id,
  name,
  input: { query: "x" },
  ...more,
});
export const serverResult = (tool_use_id: string, type: string, more: Json = {}): Json => ({
  type,
  tool_use_id,
  content: [],
  ...more,
});

/** The role and block types of each message: short enough to compare a whole request at once. */
export function messagesOf(body: Json | undefined): readonly string[] {
  return ((body?.["messages"] ?? []) as readonly Json[]).map(({ role, content }) => {
    const blocks = content as readonly Json[];
    return `${role as string}: ${blocks.map(({ type }) => type as string).join(" ")}`;
  });
}
