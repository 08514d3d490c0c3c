/** Structured output: the schema in the provider's form, and a check of the answer. */

import type { Settings } from "../../base/events/index.ts";
import { isObject, messageOf, tryParseJson } from "../../base/support/index.ts";
import { isStrictSchema, jsonSchemaValidator, tool } from "../tools/index.ts";
import type { OutputSchema } from "./types.ts";

export interface OutputFormat {
  readonly format: NonNullable<Settings["output"]>;
  /** What is wrong with the answer, as a message for the model. */
  judge(text: string): string | undefined;
  read(text: string): unknown;
}

export function createOutputFormat(schema: OutputSchema): OutputFormat {
  // A tool's input is described in the same ways, so `tool` can read each of them.
  const { parameters } = tool({
    name: "output",
    description: "the answer",
    input: schema as never,
    run: () => undefined,
  });
  const validate = jsonSchemaValidator(parameters);
  return {
    format: { name: "output", schema: parameters, strict: isStrictSchema(parameters) },
    judge(text) {
      const value = tryParseJson(text);
      if (!isObject(value)) return "it is not a JSON object";
      try {
        const verdict = validate(value);
        return verdict.ok ? undefined : verdict.message;
      } catch (error) {
        return messageOf(error);
      }
    },
    read: (text) => tryParseJson(text),
  };
}
