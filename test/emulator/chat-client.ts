/** Plain requests to the chat dialect: the body is sent as written. */

import { expect } from "vitest";

import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import { type Json, post, type Reply, scripted, stream, type StreamReply } from "./emulator-client.ts";

const path = "/chat/completions";

export function chat(
  emulator: Emulator,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return post(emulator, body, headers, path);
}

export function chatStream(
  emulator: Emulator,
  body: Json,
  headers: Record<string, string> = {},
): Promise<StreamReply> {
  return stream(emulator, body, headers, path);
}

export const user = (content: unknown): Json => ({ role: "user", content });
export const assistant = (content: unknown, more: Json = {}): Json => ({
  role: "assistant",
  content,
  ...more,
});
export const toolResult = (id: unknown, content = "done"): Json => ({
  role: "tool",
  tool_call_id: id,
  content,
});

export const choiceOf = (json: Json): Json => (json["choices"] as Json[])[0] ?? {};
export const messageOf = (reply: { readonly json: Json }): Json => choiceOf(reply.json)["message"] as Json;
export const callsOf = (message: Json): Json[] => (message["tool_calls"] ?? []) as Json[];
export const resultsOf = (message: Json): Json[] => callsOf(message).map((call) => toolResult(call["id"]));

/** Two calls, then an answer, and again. */
export const twoCalls = `
steps:
  - output:
      - reasoning: {text: "I look at both places, one and two."}
      - function_call: {name: look, arguments: {at: one}}
      - function_call: {name: look, arguments: {at: two}}
  - output:
      - reasoning: {text: "Both have answered, so I can close."}
      - message: All done.
afterwards: repeat
`;

/** One tool step: the request, the answer, and its correct continuation. */
export interface History {
  readonly model: string;
  readonly first: Json;
  readonly answer: Json;
  readonly results: readonly Json[];
  /** Everything so far, ready to be sent. */
  readonly messages: readonly Json[];
}

export async function oneStep(
  model: string,
  options: EmulatorOptions = {},
): Promise<{ readonly emulator: Emulator; readonly history: History }> {
  const emulator = await scripted(twoCalls, options);
  return { emulator, history: await stepOf(emulator, model) };
}

export async function stepOf(emulator: Emulator, model: string): Promise<History> {
  const first = user("go");
  const reply = await chat(emulator, { model, messages: [first] });
  expect([reply.status, reply.json["error"] ?? null]).toEqual([200, null]);
  const answer = messageOf(reply);
  const results = resultsOf(answer);
  return { model, first, answer, results, messages: [first, answer, ...results] };
}
