/** The dialect drivers by name, and access to a dialect's renderer for inspecting requests without a model. */

import type { Dialect } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { openaiChat } from "./openai-chat/index.ts";
import { openaiResponses } from "./openai-responses/index.ts";
import type { DialectDriver, Renderer, StreamDecoder } from "./provider.ts";

const DIALECTS: Readonly<Record<Dialect, DialectDriver>> = {
  "openai-responses": openaiResponses,
  "openai-chat": openaiChat,
  "anthropic-messages": anthropicMessages,
};

export function driverOf(dialect: Dialect): DialectDriver {
  // A log from a later version may name a dialect this version lacks.
  if (Object.hasOwn(DIALECTS, dialect)) return DIALECTS[dialect];
  throw codedError("dialect_unknown", `this version does not support the dialect "${dialect}"`);
}

export function createRenderer(dialect: Dialect): Renderer {
  return driverOf(dialect).createRenderer();
}

/** Reads an answer that another program receives. */
export function createDecoder(dialect: Dialect): StreamDecoder {
  return driverOf(dialect).createDecoder();
}

/** Request bodies rendered by another version have other hashes. */
export function rendererVersionOf(dialect: Dialect): number {
  return driverOf(dialect).rendererVersion;
}
