/** The facts about a request, besides its input, that the rules of `openai-responses` need. */

export interface ResponsesFacts {
  /** The request without its `input`, as JSON text. Absent if only the input is known. */
  readonly head?: string | undefined;
  /** The server's own knowledge besides the input. If absent, it has none, as in all our requests. */
  readonly kept?: KeptByServer | undefined;
}

export interface KeptByServer {
  /** Whether it stored items, so that a request may refer to them by id alone. */
  readonly items: boolean;
  /** Whether it has the conversation before the input: `previous_response_id`, `conversation`. */
  readonly front: boolean;
}
