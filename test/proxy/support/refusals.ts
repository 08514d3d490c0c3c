/** Refusals, requests that may earn them, and what a client gets of them. */

import { type Header, withoutOurs } from "./http-bytes.ts";
import {
  answerBytes,
  type Answering,
  ask,
  JSON_TYPE,
  openProxy,
  requestTo,
  startUpstream,
  type Upstream,
} from "./wire.ts";

export const thought = {
  type: "reasoning",
  id: "rs_68af0c11d2a94e5b",
  summary: [],
  encrypted_content: "gAAAAfirst",
};
export const call = {
  type: "function_call",
  id: "fc_68af0c11d2a94e5b",
  call_id: "call_9fK2mQ7x",
  name: "f",
  arguments: "{}",
};
export const output = { type: "function_call_output", call_id: "call_9fK2mQ7x", output: "1" };

/** Histories in which an eager healer finds much to change: thoughts, ids, calls without results. */
export const BROKEN: Readonly<Record<string, string>> = {
  "/v1/responses": JSON.stringify({
    model: "m",
    store: false,
    max_output_tokens: 9,
    input: [
      { role: "user", content: "a" },
      thought,
      call,
      output,
      { ...call, call_id: "call_open", id: "fc_2" },
      { role: "user", content: "b" },
    ],
  }),
  "/v1/messages": JSON.stringify({
    model: "emu-claude",
    max_tokens: 3000,
    thinking: { type: "enabled", budget_tokens: 2000 },
    messages: [
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "x", signature: "c2ln" },
          { type: "tool_use", id: "toolu_1", name: "f", input: {} },
        ],
      },
      { role: "user", content: "no result" },
    ],
  }),
  "/v1/chat/completions": JSON.stringify({
    model: "emu-deepseek",
    messages: [
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "user", content: "no result" },
    ],
  }),
};
export const ROUTES = Object.keys(BROKEN);

export const error = (message: string, more: object = {}): string =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null, ...more } });

export interface Refusal {
  readonly status: string;
  readonly headers?: readonly Header[];
  readonly body: string | Buffer;
}

export const bytesOf = ({ status, headers = [JSON_TYPE], body }: Refusal): Buffer =>
  answerBytes(status, headers, body);

export async function through(
  answer: Answering | Buffer,
  path: string,
  body = BROKEN[path] ?? "{}",
): Promise<{ readonly upstream: Upstream; readonly got: object }> {
  const upstream = await startUpstream(answer);
  const proxy = await openProxy({ to: upstream.origin });
  const got = await ask(proxy.port, requestTo(proxy.port, path, { headers: [JSON_TYPE], body }));
  return { upstream, got: seen(got) };
}

export const seen = ({ status, words, headers, body, whole }: Awaited<ReturnType<typeof ask>>): object => ({
  status: `${status} ${words}`,
  headers: withoutOurs(headers),
  body: body.toString("latin1"),
  whole,
});

export const expected = ({ status, headers = [JSON_TYPE], body }: Refusal): object => ({
  status,
  headers: [...headers, ["Content-Length", String(Buffer.from(body).length)]],
  body: Buffer.from(body).toString("latin1"),
  whole: true,
});

/** Refusals of a history, by route; none of them is ever satisfied. */
export const OF_HISTORY: Readonly<Record<string, readonly string[]>> = {
  "/v1/responses": [
    error(
      "The encrypted content for item rs_68af0c11d2a94e5b could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
      { code: "invalid_encrypted_content" },
    ),
    error(
      "Item 'rs_68af0c11d2a94e5b' of type 'reasoning' was provided without its required following item.",
      { param: "input" },
    ),
    error("No tool output found for function call call_open.", { param: "input" }),
    error("Unknown parameter: 'input[1].status'.", { code: "unknown_parameter", param: "input[1].status" }),
    error("Duplicate item found with id fc_2. Remove duplicate items from your input and try again.", {
      param: "input",
    }),
  ],
  "/v1/messages": [
    error("messages.1.content.0: Invalid `signature` in `thinking` block"),
    error("messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."),
  ],
  "/v1/chat/completions": [
    error("The `reasoning_content` in the thinking mode must be passed back to the API."),
    error(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. call_1",
    ),
  ],
};
