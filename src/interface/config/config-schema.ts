/**
 * The config file as a JSON Schema, for editors: `throughline config schema`, and docs/config.schema.json.
 *
 * @module
 */

import type { JsonObject } from "../../base/support/index.ts";
import { CONFIG_NAMES, DIALECTS, keyOf, type ValueKind } from "./config-keys.ts";

export function configSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of Throughline",
    type: "object",
    additionalProperties: false,
    properties: {
      $schema: { type: "string" },
      ...Object.fromEntries(
        CONFIG_NAMES.map((name) => {
          const { about, kind, usual } = keyOf(name);
          return [
            name,
            { description: about, ...schemaOf(kind), ...(usual === undefined ? {} : { default: usual }) },
          ];
        }),
      ),
    },
  };
}

function schemaOf(kind: ValueKind): JsonObject {
  switch (kind.type) {
    case "text":
    case "path":
      return { type: "string", minLength: 1 };
    case "choice":
      return { enum: kind.values };
    case "integer":
      return { type: "integer", minimum: kind.least };
    case "amount":
      return { type: "number", exclusiveMinimum: 0 };
    case "switch":
      return { type: "boolean" };
    case "names":
      return { type: "array", items: { type: "string", minLength: 1 } };
    case "providers":
      return named(PROVIDER);
    case "profiles":
      return named({
        type: "object",
        required: ["extends"],
        properties: { extends: { type: "string", minLength: 1, description: "the profile it starts from" } },
      });
    default:
      return {};
  }
}

const AMOUNT = { type: "number", minimum: 0 };

const PROVIDER: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["dialect", "baseUrl"],
  properties: {
    dialect: { enum: DIALECTS },
    baseUrl: { type: "string", pattern: "^https?://" },
    keyVariable: {
      type: "string",
      pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
      description: "the variable of the environment that holds the key; none: no key is sent",
    },
    headers: { type: "object", additionalProperties: { type: "string" } },
    profile: { type: "string", minLength: 1 },
    models: {
      type: "array",
      items: { type: "string", minLength: 1 },
      description: "names for the list of models",
    },
    prices: {
      type: "object",
      description: "USD per million tokens, by model",
      additionalProperties: {
        type: "object",
        additionalProperties: false,
        required: ["input", "output"],
        properties: { input: AMOUNT, output: AMOUNT, cachedInput: AMOUNT },
      },
    },
  },
};

function named(entry: JsonObject): JsonObject {
  return {
    type: "object",
    propertyNames: { pattern: "^[a-z][a-z0-9-]{0,39}$" },
    additionalProperties: entry,
  };
}
