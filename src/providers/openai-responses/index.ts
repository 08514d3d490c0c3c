/**
 * The OpenAI Responses dialect.
 *
 * @module
 */

export { namedInError } from "./errors.ts";
export { HOSTED_OMIT, HOSTED_RULES } from "./item-fields.ts";
export { RENDERER_VERSION, ResponsesRenderer } from "./request.ts";
export { ResponsesDecoder } from "./stream.ts";
export { type Endpoint, sendResponses } from "./transport.ts";
