/** Structured output: the schema in the form a provider takes, and the check that an answer must pass. */

import type { Settings } from "../../base/events/index.ts";
import { codedError, isObject, tryParseJson } from "../../base/support/index.ts";
import { type InputVerdict, isStrictSchema, toInputSchema } from "../tools/index.ts";
import type { OutputSchema } from "./types.ts";

export interface OutputFormat {
  readonly format: NonNullable<Settings["output"]>;
  /** Parses an answer and validates it with the schema itself: refinements, defaults and transforms included. */
  validate(text: string): Promise<InputVerdict>;
}

/** The format of a turn that may have a schema. */
export function formatOf(schema: OutputSchema | undefined): OutputFormat | undefined {
  return schema === undefined ? undefined : createOutputFormat(schema);
}

export function createOutputFormat(schema: OutputSchema): OutputFormat {
  const { parameters, validate } = toInputSchema(schema, (problem, cause) =>
    codedError("schema_invalid", `The output schema cannot be used: ${ofItself(problem)}.`, cause),
  );
  return {
    format: { name: "output", schema: parameters, strict: isStrictSchema(parameters) },
    validate: (text) => validateAnswer(text, validate),
  };
}

/** A problem names its owner's schema as "its schema". Here the schema itself is the subject. */
function ofItself(problem: string): string {
  return problem.replace(/^its schema /, "it ");
}

/** The check that is left of a schema when only the log has it: no refinements, defaults or transforms. */
export function outputFromLog(format: OutputFormat["format"]): OutputFormat {
  const { validate } = toInputSchema(format.schema, (problem, cause) =>
    codedError(
      "schema_invalid",
      `The output schema in the log cannot be used: ${ofItself(problem)}. Pass the schema as \`output\`.`,
      cause,
    ),
  );
  return { format, validate: (text) => validateAnswer(text, validate) };
}

async function validateAnswer(
  text: string,
  validate: (value: unknown) => Promise<InputVerdict>,
): Promise<InputVerdict> {
  const value = tryParseJson(text);
  return isObject(value) ? validate(value) : { ok: false, message: "it is not a JSON object" };
}

/** Remembers the value of the answer that passed, so that a transform runs once per answer. */
export class JudgedAnswer {
  readonly #output: OutputFormat;
  value: unknown;

  constructor(output: OutputFormat) {
    this.#output = output;
  }

  /** Says what is wrong with an answer, in words for the model. */
  async complaint(text: string): Promise<string | undefined> {
    const verdict = await this.#output.validate(text);
    if (!verdict.ok) return verdict.message;
    this.value = verdict.value;
    return undefined;
  }
}
