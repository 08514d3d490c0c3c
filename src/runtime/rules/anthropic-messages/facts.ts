/** The facts about a request, besides its messages, that the rules of `anthropic-messages` need. */

export interface MessagesFacts {
  /**
   * The request without its `messages`, as JSON text. Supplies thinking, tools, tool_choice, max_tokens and
   * cache_control. If absent, only the messages are known, and rules that need the head are skipped.
   */
  readonly head?: string | undefined;
  /** Whether the model accepts a conversation that ends with an assistant message (C08). Newer models do not. */
  readonly prefill?: boolean;
  /** Whether the server keeps the conversation before these messages. Default: false. */
  readonly keptFront?: boolean | undefined;
}
