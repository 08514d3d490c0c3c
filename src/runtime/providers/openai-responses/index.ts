/**
 * The OpenAI Responses dialect.
 *
 * @module
 */

import type { DialectDriver } from "../provider.ts";
import { RENDERER_VERSION, ResponsesRenderer } from "./request.ts";
import { ResponsesDecoder } from "./stream.ts";

export { HOSTED_OMIT, HOSTED_RULES } from "./item-fields.ts";
export { ResponsesRenderer } from "./request.ts";
export { ResponsesDecoder } from "./stream.ts";

export const openaiResponses: DialectDriver = {
  rendererVersion: RENDERER_VERSION,
  path: "/responses",
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  createRenderer: () => new ResponsesRenderer(),
  createDecoder: () => new ResponsesDecoder(),
};
