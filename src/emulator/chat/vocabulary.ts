/**
 * The words of the chat completions protocol and of its relatives. Types follow the official ones (openai 7.53
 * completions.d.ts); fields that only vendors have are listed beside them with where they were seen (failures.md V06).
 */

export const CHAT_ROLES = ["developer", "system", "user", "assistant", "tool", "function"] as const;

/** Why a response ended. The deprecated `function_call` is typed and never sent. */
export type ChatFinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** The last frame of a stream: not JSON. */
export const CHAT_DONE = "[DONE]";

/**
 * Where vendors put reasoning, in a delta and in the assistant message alike (V06). What was captured from one field
 * goes back in that field only. Mistral has none: its reasoning is a part of `content` with the type `thinking`.
 */
export const CHAT_REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"] as const;

export type ChatReasoningField = (typeof CHAT_REASONING_FIELDS)[number];

/** The type of Mistral's content part that holds reasoning (V04). */
export const CHAT_THINKING_PART = "thinking";

/** A call as it stands in a message; in a delta every field but `index` may be missing. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}
