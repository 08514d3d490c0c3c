/**
 * What the rules of `openai-chat` are told of a request beside its messages: who the vendor is, as traits. Data; each field
 * says what it rests on in docs/replay-rules.md.
 */

import type { ReasoningField } from "../../../base/events/index.ts";

export interface ChatTraits {
  /** Fields an assistant message may carry reasoning in. Any other is answered as `unknownField` says. */
  readonly reasoningFields: readonly ReasoningField[];
  /**
   * Which assistant messages must carry it while thinking is on: those with calls (Kimi, V01), all between two user
   * messages where a tool was called (DeepSeek, V02), all of a request that carries tools and those others, none.
   */
  readonly reasoningRequired: "calls" | "tool_rounds" | "with_tools" | "never";
  /** In whose words a field it does not know is refused; `ignored`, or not said: it is not. */
  readonly unknownField?: "ignored" | "openai" | "deepseek-old" | "mistral" | "groq";
  /** A user message may stand behind a tool message (Mistral: not). */
  readonly userAfterTool: boolean;
  readonly maxCallIdLength: number;
  /** Mistral takes call ids of exactly nine letters and digits (code 3280). */
  readonly nineCharacterCallIds?: boolean;
}

export interface ChatFacts {
  readonly traits: ChatTraits;
  /** The request without its `messages`, as JSON text. Absent when only the messages are at hand. */
  readonly head?: string | undefined;
  /** Thinking is switched on. Where absent the head is asked, and where that is silent the vendor's default holds: on. */
  readonly thinking?: boolean;
}
