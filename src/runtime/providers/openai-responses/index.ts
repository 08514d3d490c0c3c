/** The OpenAI Responses dialect. */

import { GrowingRenderer } from "../growing-request.ts";
import type { DialectDriver } from "../provider.ts";
import { RENDERER_VERSION, RESPONSES_FORM } from "./request.ts";
import { ResponsesDecoder } from "./stream.ts";

export { HOSTED_OMIT, HOSTED_RULES, inputFields } from "./item-fields.ts";
export { ResponsesDecoder } from "./stream.ts";

export const openaiResponses: DialectDriver = {
  rendererVersion: RENDERER_VERSION,
  path: "/responses",
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  createRenderer: () => new GrowingRenderer(RESPONSES_FORM),
  createDecoder: () => new ResponsesDecoder(),
};
