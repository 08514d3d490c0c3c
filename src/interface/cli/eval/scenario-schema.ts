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
  equals: { type: "string", description: "Equals this text" },
  contains: { type: "array", items: text, description: "Contains each of these" },
  matches: { type: "string", description: "Matches this regular expression, with the flag u" },
  lacks: { type: "array", items: text, description: "Contains none of these" },
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
        description: "The name of the scenario. Default: the name of the file",
      },
      about: { type: "string" },
      models: {
        type: "array",
        items: text,
        minItems: 1,
        description: "The models to use if -m is not given",
      },
      fixture: { ...text, description: "A folder next to this file; each run gets a copy" },
      files: {
        type: "object",
        description: "Additional files, as path and content",
        additionalProperties: { type: "string" },
      },
      tools: {
        ...text,
        description: "builtin (default), none, or a module next to this file that exports tools",
      },
      allowTools: { type: "array", items: text, description: "Allows only these tools" },
      system: { type: "string" },
      permissions: { enum: ["auto", "read-only", "deny"], description: "The permission mode. Default: auto" },
      limits: object({
        steps: { type: "integer", minimum: 1, description: "The maximum number of requests in a turn" },
        seconds: {
          type: "number",
          exclusiveMinimum: 0,
          description: "The time limit for the whole run, in seconds. Default: 300",
        },
        costUsd: { type: "number", exclusiveMinimum: 0, description: "No turn begins above this cost" },
      }),
      emulator: {
        type: "object",
        description: "For emulated models: steps, afterwards, switches, models (docs/emulator.md), faults",
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
        model: {
          ...text,
          description: "The model from this turn on; first is the model that the run began with",
        },
        output: { type: "object", description: "Requests JSON that fits this schema" },
        expect: object({
          status: {
            enum: ["completed", "incomplete", "failed", "cancelled"],
            description: "The expected status. Default: completed",
          },
          text: object(textMembers),
          json: { type: "object", description: "The answer is JSON that fits this schema" },
          calls: {
            type: "array",
            items: object(
              {
                tool: text,
                with: { type: "object", description: "The arguments contain each of these members" },
                times: { ...count, description: "The exact number of calls. Default: at least one" },
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
      maxRefusedRequests: {
        ...count,
        description: "The number of refused and healed requests that are allowed",
      },
      reasoningRecall: { type: "number", minimum: 0, maximum: 1 },
      prefixStable: { type: "boolean" },
      maxCostUsd: { type: "number", minimum: 0 },
      maxSteps: count,
    }),
  },
};
