/** What the rules of `openai-responses` are told of a request beside its input. */

export interface ResponsesFacts {
  /** The request without its `input`, as JSON text. Absent when only the input is at hand. */
  readonly head?: string | undefined;
}
