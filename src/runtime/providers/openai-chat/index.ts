/**
 * The chat-completions dialect: OpenAI's and its relatives'.
 *
 * @module
 */

import type { DialectDriver } from "../provider.ts";
import { ChatRenderer, RENDERER_VERSION } from "./request.ts";
import { ChatDecoder } from "./stream.ts";

export const openaiChat: DialectDriver = {
  rendererVersion: RENDERER_VERSION,
  path: "/chat/completions",
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  createRenderer: () => new ChatRenderer(),
  createDecoder: () => new ChatDecoder(),
};
