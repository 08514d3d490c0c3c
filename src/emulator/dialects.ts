/** The dialects the emulator speaks, and which one handles a request. */

import { openaiChat } from "./chat/dialect.ts";
import type { Dialect, Headers } from "./dialect.ts";
import { anthropicMessages } from "./messages/dialect.ts";
import { openaiResponses } from "./responses/dialect.ts";

/** The last one takes requests that no other owns, so it answers unknown routes. */
const dialects: readonly [...Dialect[], Dialect] = [anthropicMessages, openaiChat, openaiResponses];

export function dialectOf(path: string, headers: Headers): Dialect {
  return dialects.find((one) => one.owns(path, headers)) ?? openaiResponses;
}
