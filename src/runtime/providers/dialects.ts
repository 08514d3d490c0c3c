/** The dialects, by name. Also the renderer of one, for looking at requests where no model is needed. */

import type { Dialect } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { openaiChat } from "./openai-chat/index.ts";
import { openaiResponses } from "./openai-responses/index.ts";
import type { DialectDriver, Renderer } from "./provider.ts";

const DIALECTS: Readonly<Record<Dialect, DialectDriver>> = {
  "openai-responses": openaiResponses,
  "openai-chat": openaiChat,
  "anthropic-messages": anthropicMessages,
};

export function driverOf(dialect: Dialect): DialectDriver {
  // A log of a later version may name one we do not have.
  if (Object.hasOwn(DIALECTS, dialect)) return DIALECTS[dialect];
  throw codedError("dialect_unknown", `this version does not know the dialect "${dialect}"`);
}

export function createRenderer(dialect: Dialect): Renderer {
  return driverOf(dialect).createRenderer();
}

/** Bodies of other versions than this one's have other hashes. */
export function rendererVersionOf(dialect: Dialect): number {
  return driverOf(dialect).rendererVersion;
}
