/**
 * The same answers in every dialect: the frames a provider sends for each. Written by hand from the wire facts, not
 * with the emulator, so that the decoders are tested against an independent reading.
 *
 * @module
 */

import type { Dialect } from "../../../src/base/events/index.ts";

export type Piece =
  | { readonly kind: "thought"; readonly text: string; readonly payload: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly arguments: string }
  /** Something the dialect does not know today. */
  | { readonly kind: "unknown" };

export type Ending = "stop" | "calls" | "length" | "refusal" | "error";

export interface Answer {
  readonly pieces: readonly Piece[];
  readonly ending: Ending;
}

export interface Speaker {
  readonly dialect: Dialect;
  readonly profile: string;
  /** The data of each frame. */
  frames(answer: Answer): readonly string[];
  /** A frame of a type that does not exist yet. */
  readonly unknownFrame: string;
}

/** Deltas of a few characters: texts arrive in chunks. */
function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,3}/g) ?? [];
}

const json = (value: object): string => JSON.stringify(value);

const responses: Speaker = {
  dialect: "openai-responses",
  profile: "openai",
  unknownFrame: json({ type: "response.tomorrow", output_index: 0 }),
  frames({ pieces: list, ending }) {
    const frames = [json({ type: "response.created", response: { id: "resp_1", model: "m-1" } })];
    for (const [output_index, piece] of list.entries()) frames.push(...responsesPiece(piece, output_index));
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
    };
    if (ending === "error")
      return [...frames, json({ type: "error", code: "server_error", message: "broken" })];
    const status = ending === "length" || ending === "refusal" ? "incomplete" : "completed";
    const reason = ending === "length" ? "max_output_tokens" : "content_filter";
    const details = status === "incomplete" ? { incomplete_details: { reason } } : {};
    return [
      ...frames,
      json({ type: `response.${status}`, response: { id: "resp_1", status, output: [], usage, ...details } }),
    ];
  },
};

function responsesPiece(piece: Piece, output_index: number): readonly string[] {
  const added = (item: object): string => json({ type: "response.output_item.added", output_index, item });
  const done = (item: object): string => json({ type: "response.output_item.done", output_index, item });
  switch (piece.kind) {
    case "thought": {
      const id = `rs_${output_index}`;
      return [
        added({ id, type: "reasoning", summary: [] }),
        ...pieces(piece.text).map((delta) =>
          json({ type: "response.reasoning_summary_text.delta", output_index, summary_index: 0, delta }),
        ),
        done({
          id,
          type: "reasoning",
          summary: [{ type: "summary_text", text: piece.text }],
          encrypted_content: piece.payload,
        }),
      ];
    }
    case "text": {
      const id = `msg_${output_index}`;
      return [
        added({ id, type: "message", role: "assistant", content: [] }),
        ...pieces(piece.text).map((delta) =>
          json({ type: "response.output_text.delta", output_index, content_index: 0, delta }),
        ),
        done({
          id,
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: piece.text, annotations: [] }],
        }),
      ];
    }
    case "call": {
      const call = { id: `fc_${output_index}`, type: "function_call", call_id: piece.id, name: piece.name };
      return [
        added({ ...call, arguments: "" }),
        ...pieces(piece.arguments).map((delta) =>
          json({ type: "response.function_call_arguments.delta", output_index, delta }),
        ),
        done({ ...call, status: "completed", arguments: piece.arguments }),
      ];
    }
    case "unknown": {
      const item = {
        id: `tm_${output_index}`,
        type: "tomorrow_item",
        secret: 12_345_678_901_234_567_890n.toString(),
      };
      return [added(item), done(item)];
    }
    default:
      return piece satisfies never;
  }
}

const messages: Speaker = {
  dialect: "anthropic-messages",
  profile: "anthropic",
  unknownFrame: json({ type: "tomorrow", index: 0 }),
  frames({ pieces: list, ending }) {
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m-1", content: [] };
    const usage = {
      input_tokens: 6,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    };
    const frames = [json({ type: "message_start", message: { ...message, usage } }), json({ type: "ping" })];
    for (const [index, piece] of list.entries()) frames.push(...messagesPiece(piece, index));
    if (ending === "error") {
      return [...frames, json({ type: "error", error: { type: "api_error", message: "broken" } })];
    }
    const stop_reason = { stop: "end_turn", calls: "tool_use", length: "max_tokens", refusal: "refusal" }[
      ending
    ];
    const last = { output_tokens: 5, output_tokens_details: { thinking_tokens: 2 } };
    return [
      ...frames,
      json({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: last }),
      json({ type: "message_stop" }),
    ];
  },
};

function messagesPiece(piece: Piece, index: number): readonly string[] {
  const start = (content_block: object): string =>
    json({ type: "content_block_start", index, content_block });
  const delta = (one: object): string => json({ type: "content_block_delta", index, delta: one });
  const stop = json({ type: "content_block_stop", index });
  switch (piece.kind) {
    case "thought":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...pieces(piece.text).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: piece.payload }),
        stop,
      ];
    case "text":
      return [
        start({ type: "text", text: "" }),
        ...pieces(piece.text).map((text) => delta({ type: "text_delta", text })),
        stop,
      ];
    case "call":
      return [
        start({ type: "tool_use", id: piece.id, name: piece.name, input: {} }),
        delta({ type: "input_json_delta", partial_json: "" }),
        ...pieces(piece.arguments).map((partial_json) => delta({ type: "input_json_delta", partial_json })),
        stop,
      ];
    case "unknown":
      return [start({ type: "tomorrow_block", secret: "12345678901234567890" }), stop];
    default:
      return piece satisfies never;
  }
}

const chat: Speaker = {
  dialect: "openai-chat",
  profile: "deepseek",
  unknownFrame: json({ id: "c_1", choices: [{ index: 0, delta: { tomorrow: "x" }, finish_reason: null }] }),
  frames({ pieces: list, ending }) {
    const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}): string =>
      json({
        id: "c_1",
        object: "chat.completion.chunk",
        model: "m-1",
        choices: [{ index: 0, delta, finish_reason }],
        ...rest,
      });
    const frames = [chunk({ role: "assistant", content: null, reasoning_content: "" })];
    let call = 0;
    for (const piece of list) {
      if (piece.kind === "thought") {
        frames.push(
          ...pieces(piece.text).map((reasoning_content) => chunk({ content: null, reasoning_content })),
        );
      } else if (piece.kind === "text") {
        frames.push(...pieces(piece.text).map((content) => chunk({ content, reasoning_content: null })));
      } else if (piece.kind === "call") {
        const index = call;
        call += 1;
        frames.push(
          chunk({
            tool_calls: [
              { index, id: piece.id, type: "function", function: { name: piece.name, arguments: "" } },
            ],
          }),
          ...pieces(piece.arguments).map((text) =>
            chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
          ),
        );
      } else frames.push(chunk({ tomorrow: { secret: 1 } }));
    }
    if (ending === "error")
      return [...frames, json({ error: { message: "broken", type: "server_error", code: null } })];
    const finish = { stop: "stop", calls: "tool_calls", length: "length", refusal: "content_filter" }[ending];
    const usage = {
      prompt_tokens: 10,
      prompt_cache_hit_tokens: 4,
      completion_tokens: 5,
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    return [...frames, chunk({ content: "" }, finish, { usage }), "[DONE]"];
  },
};

export const SPEAKERS: readonly Speaker[] = [responses, messages, chat];
