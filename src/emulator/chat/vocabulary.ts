/**
 * The vocabulary of the chat completions protocol and its variants. It follows the official types (openai 7.53
 * completions.d.ts); vendor-only fields are listed with their source (failures.md V06).
 */

export const CHAT_ROLES = ["developer", "system", "user", "assistant", "tool", "function"] as const;

/** Why a response ended. The deprecated `function_call` is typed but never sent. */
export type ChatFinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** The last frame of a stream: not JSON. */
export const CHAT_DONE = "[DONE]";

/**
 * Where vendors put reasoning, both in a delta and in the assistant message (V06). Reasoning captured from one field
 * goes back only in that field. Mistral has none: its reasoning is a part of `content` with the type `thinking`.
 */
export const CHAT_REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"] as const;

export type ChatReasoningField = (typeof CHAT_REASONING_FIELDS)[number];

/** The type of Mistral's content part that holds reasoning (V04). */
export const CHAT_THINKING_PART = "thinking";

/** A call in a message; in a delta every field but `index` may be missing. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}
