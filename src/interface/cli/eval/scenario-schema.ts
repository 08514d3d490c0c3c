/** The JSON Schema of scenario files, as published in evals/scenario.schema.json. */

import type { JsonObject } from "../../../base/support/index.ts";

const text = { type: "string", minLength: 1 } as const;
const count = { type: "integer", minimum: 0 } as const;

function object(properties: JsonObject, required: readonly string[] = [], description?: string): JsonObject {
  return {
    type: "object",
    description,
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

const textMembers: JsonObject = {
  equals: { type: "string", description: "exactly this" },
  contains: { type: "array", items: text, description: "each of these" },
  matches: { type: "string", description: "a regular expression, with the flag u" },
  lacks: { type: "array", items: text, description: "none of these" },
};

export const SCENARIO_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "A scenario of throughline eval",
  ...object(
    {
      $schema: { type: "string" },
      name: {
        ...text,
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description: "default: the name of the file",
      },
      about: { type: "string" },
      models: { type: "array", items: text, minItems: 1, description: "without -m: these" },
      fixture: { ...text, description: "a folder beside this file, copied for each run" },
      files: {
        type: "object",
        description: "further files, path to content",
        additionalProperties: { type: "string" },
      },
      tools: {
        ...text,
        description: "builtin (default), none, or a module beside this file that exports tools",
      },
      allowTools: { type: "array", items: text, description: "only these of the tools" },
      system: { type: "string" },
      permissions: { enum: ["auto", "read-only", "deny"], description: "default: auto" },
      limits: object({
        steps: { type: "integer", minimum: 1, description: "requests in a turn" },
        seconds: { type: "number", exclusiveMinimum: 0, description: "for the whole run; default 300" },
        costUsd: { type: "number", exclusiveMinimum: 0, description: "no turn is begun above it" },
      }),
      emulator: {
        type: "object",
        description: "for emulated models: steps, afterwards, switches, models (docs/emulator.md), faults",
        properties: { faults: { type: "array", items: text } },
      },
      turns: { type: "array", minItems: 1, items: { $ref: "#/$defs/turn" } },
      expect: { $ref: "#/$defs/run" },
    },
    ["turns"],
  ),
  $defs: {
    turn: object(
      {
        send: text,
        model: { ...text, description: "from this turn on; first: the one the run began with" },
        output: { type: "object", description: "ask for JSON that fits this schema" },
        expect: object({
          status: {
            enum: ["completed", "incomplete", "failed", "cancelled"],
            description: "default: completed",
          },
          text: object(textMembers),
          json: { type: "object", description: "the answer is JSON that fits this schema" },
          calls: {
            type: "array",
            items: object(
              {
                tool: text,
                with: { type: "object", description: "each member is in the arguments" },
                times: { ...count, description: "exactly; default: at least once" },
                result: { enum: ["ok", "error", "denied", "timeout", "cancelled", "not_executed"] },
              },
              ["tool"],
            ),
          },
          noCalls: { type: "boolean" },
          minSteps: count,
          maxSteps: count,
        }),
      },
      ["send"],
    ),
    run: object({
      files: {
        type: "array",
        items: object({ path: text, exists: { type: "boolean" }, ...textMembers }, ["path"]),
      },
      commands: {
        type: "array",
        items: object({ run: text, exit: count, output: object(textMembers) }, ["run"]),
      },
      noRefusedRequest: { type: "boolean" },
      maxRefusedRequests: { ...count, description: "healing is allowed, this often" },
      reasoningRecall: { type: "number", minimum: 0, maximum: 1 },
      prefixStable: { type: "boolean" },
      maxCostUsd: { type: "number", minimum: 0 },
      maxSteps: count,
    }),
  },
};
