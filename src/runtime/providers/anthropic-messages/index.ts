/** The Anthropic Messages dialect. */

import { GrowingRenderer } from "../growing-request.ts";
import type { DialectDriver } from "../provider.ts";
import { MESSAGES_FORM, RENDERER_VERSION } from "./request.ts";
import { MessagesDecoder } from "./stream.ts";

export { MessagesDecoder };

/** Lets the server drop a thought whose prefix changed instead of refusing the request (failures.md C04). */
const BINDING_CONTROLS = "thinking-binding-controls-2026-08-01";

export const anthropicMessages: DialectDriver = {
  rendererVersion: RENDERER_VERSION,
  path: "/v1/messages",
  headers: (key, { profile }) => ({
    "x-api-key": key,
    "anthropic-version": "2023-06-01",
    ...(profile.prefixBound ? { "anthropic-beta": BINDING_CONTROLS } : {}),
  }),
  createRenderer: () => new GrowingRenderer(MESSAGES_FORM),
  createDecoder: () => new MessagesDecoder(),
};
