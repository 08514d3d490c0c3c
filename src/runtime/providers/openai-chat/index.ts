/** The chat-completions dialect, for OpenAI and compatible vendors. */

import { GrowingRenderer } from "../growing-request.ts";
import type { DialectDriver } from "../provider.ts";
import { CHAT_FORM, RENDERER_VERSION } from "./request.ts";
import { ChatDecoder } from "./stream.ts";

export const openaiChat: DialectDriver = {
  rendererVersion: RENDERER_VERSION,
  path: "/chat/completions",
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  createRenderer: () => new GrowingRenderer(CHAT_FORM),
  createDecoder: () => new ChatDecoder(),
};
