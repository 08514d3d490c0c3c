/**
 * JSON Schemas for practice tools.
 *
 * @module
 */

export type JsonValueSchema = Readonly<Record<string, unknown>>;

/** An object of required texts. */
export function text(...names: readonly string[]): JsonValueSchema {
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: [...names],
    additionalProperties: false,
  };
}
