/** What the rules of `anthropic-messages` are told of a request beside its messages. */

export interface MessagesFacts {
  /**
   * The request without its `messages`, as JSON text: thinking, tools, tool_choice, max_tokens, cache_control are read from
   * it. Absent when only the messages are at hand: then what rests on it is not asked.
   */
  readonly head?: string | undefined;
  /** The model takes a conversation that ends with an assistant message (C08). Newer ones do not. */
  readonly prefill?: boolean;
  /** The server has what was said before the messages. Absent: it has nothing. */
  readonly keptFront?: boolean | undefined;
}
