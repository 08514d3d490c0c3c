/**
 * What the rules of `openai-chat` know about a request besides its messages: the vendor, described by traits. This is
 * data; docs/replay-rules.md gives the evidence for each field.
 */

import type { ReasoningField } from "../../../base/events/index.ts";

export interface ChatTraits {
  /** Fields in which an assistant message may carry reasoning. `unknownField` determines the response to any other. */
  readonly reasoningFields: readonly ReasoningField[];
  /**
   * Which assistant messages must carry reasoning while thinking is on. `calls`: those with calls (Kimi, V01).
   * `tool_rounds`: all between two user messages if a tool was called there (DeepSeek, V02). `with_tools`: as
   * `tool_rounds`, and all of a request that carries tools.
   */
  readonly reasoningRequired: "calls" | "tool_rounds" | "with_tools" | "never";
  /** Whose error text refuses an unknown field. `ignored`, the default, means it is accepted. */
  readonly unknownField?: "ignored" | "openai" | "deepseek-old" | "mistral" | "groq";
  /** Whether a user message may follow a tool message (Mistral: no). */
  readonly userAfterTool: boolean;
  readonly maxCallIdLength: number;
  /** Mistral accepts only call ids of exactly nine letters and digits (code 3280). */
  readonly nineCharacterCallIds?: boolean;
}

export interface ChatFacts {
  readonly traits: ChatTraits;
  /** The request without its `messages`, as JSON text. Absent if only the messages are known. */
  readonly head?: string | undefined;
  /** Whether thinking is on. If absent, the head decides; if that does not say, the vendor's default applies: on. */
  readonly thinking?: boolean;
}
