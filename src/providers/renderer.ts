/**
 * The renderer of a dialect, for looking at requests where no model is needed.
 *
 * @module
 */

import type { Dialect } from "../events/index.ts";
import { ThroughlineError } from "../support/index.ts";
import { ResponsesRenderer } from "./openai-responses/index.ts";
import type { Renderer } from "./provider.ts";

export function createRenderer(dialect: Dialect): Renderer {
  if (dialect === "openai-responses") return new ResponsesRenderer();
  throw new ThroughlineError({
    code: "dialect_unknown",
    message: `this version does not know the dialect "${dialect}"`,
  });
}
