/** The bare client of emulator-client.ts for `/v1/messages`. */

import { expect } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import { eventsIn, type Json, type Reply, type StreamReply } from "./emulator-client.ts";

const headers = { "x-api-key": "sk-ant-test", "anthropic-version": "2023-06-01" } as const;

/** A header with the value "" is not sent. */
type HeaderChanges = Readonly<Record<string, string>>;

function send(emulator: Emulator, body: unknown, changes: HeaderChanges, path: string): Promise<Response> {
  const all = Object.entries({ "content-type": "application/json", ...headers, ...changes });
  return fetch(emulator.baseUrl + path, {
    method: "POST",
    headers: Object.fromEntries(all.filter(([, value]) => value !== "")),
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

export async function ask(
  emulator: Emulator,
  body: unknown,
  changes: HeaderChanges = {},
  path = "/messages",
): Promise<Reply> {
  const response = await send(emulator, body, changes, path);
  const text = await response.text();
  let json: Json = {};
  try {
    json = JSON.parse(text) as Json;
  } catch {
    // a page of HTML, or half a body
  }
  return { status: response.status, headers: response.headers, text, json };
}

export async function streamed(
  emulator: Emulator,
  body: Json,
  changes: HeaderChanges = {},
): Promise<StreamReply> {
  const response = await send(emulator, { ...body, stream: true }, changes, "/messages");
  const decoder = new TextDecoder();
  let raw = "";
  let broken: unknown;
  try {
    for await (const chunk of response.body ?? [])
      raw += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch (error) {
    broken = error;
  }
  return { status: response.status, events: eventsIn(raw), raw, broken };
}

export const adaptive = { model: "emu-claude", max_tokens: 8000, thinking: { type: "adaptive" } } as const;

export const says = (text: string): Json => ({ role: "user", content: [{ type: "text", text }] });

export const assistant = (content: readonly Json[]): Json => ({ role: "assistant", content });

export const contentOf = (reply: { readonly json: Json }): Json[] => reply.json["content"] as Json[];

export const resultsFor = (content: readonly Json[], text = "done"): Json => ({
  role: "user",
  content: content
    .filter((block) => block["type"] === "tool_use")
    .map((block) => ({ type: "tool_result", tool_use_id: block["id"], content: text })),
});

/** A message assembled from its events, as a client does it. */
export function assembled(events: readonly Json[]): { readonly content: Json[]; readonly stop: unknown } {
  const content: Json[] = [];
  let stop: unknown;
  const inputs = new Map<number, string>();
  for (const event of events) {
    const index = event["index"] as number;
    const delta = event["delta"] as Json;
    if (event["type"] === "content_block_start") content[index] = { ...(event["content_block"] as Json) };
    else if (event["type"] === "message_delta") stop = delta["stop_reason"];
    else if (event["type"] === "content_block_delta") {
      const block = content[index] ?? {};
      if (delta["type"] === "text_delta") block["text"] = `${String(block["text"])}${String(delta["text"])}`;
      if (delta["type"] === "thinking_delta")
        block["thinking"] = `${String(block["thinking"])}${String(delta["thinking"])}`;
      if (delta["type"] === "signature_delta") block["signature"] = delta["signature"];
      if (delta["type"] === "input_json_delta")
        inputs.set(index, (inputs.get(index) ?? "") + String(delta["partial_json"]));
    }
  }
  for (const [index, text] of inputs) {
    const block = content[index];
    if (block !== undefined) block["input"] = text === "" ? {} : JSON.parse(text);
  }
  return { content, stop };
}

export interface ExpectedRefusal {
  readonly rule: string;
  readonly message: string;
  readonly status?: number;
  readonly type?: string;
}

export async function expectRefused(
  emulator: Emulator,
  body: unknown,
  expected: ExpectedRefusal,
  changes: HeaderChanges = {},
): Promise<void> {
  const reply = await ask(emulator, body, changes);
  expect({ status: reply.status, ...reply.json }).toEqual({
    status: expected.status ?? 400,
    type: "error",
    error: { type: expected.type ?? "invalid_request_error", message: expected.message },
    request_id: reply.headers.get("request-id"),
  });
  const report = emulator.report().requests.at(-1);
  expect([report?.verdict, report?.rule]).toEqual(["refused", expected.rule]);
}

export async function expectTaken(
  emulator: Emulator,
  body: unknown,
  changes: HeaderChanges = {},
): Promise<Json> {
  const reply = await ask(emulator, body, changes);
  expect([reply.status, reply.json["error"] ?? null]).toEqual([200, null]);
  return reply.json;
}
