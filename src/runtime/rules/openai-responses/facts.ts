/** What the rules of `openai-responses` are told of a request beside its input. */

export interface ResponsesFacts {
  /** The request without its `input`, as JSON text. Absent when only the input is at hand. */
  readonly head?: string | undefined;
  /** What the server knows beside the input. Absent: nothing, as in every request of ours. */
  readonly kept?: KeptByServer | undefined;
}

export interface KeptByServer {
  /** Items it stored, which a request may name by their ids alone. */
  readonly items: boolean;
  /** The conversation before the input: `previous_response_id`, `conversation`. */
  readonly front: boolean;
}
