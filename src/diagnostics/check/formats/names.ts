/** The known formats of histories. */

import { aChoice } from "../../../base/support/index.ts";

/** The known formats of histories, with a description of each. */
export const FORMATS = {
  responses: "OpenAI Responses: an input array, or a request with one",
  messages: "Anthropic Messages: a messages array, or a request with one",
  chat: "chat completions: a messages array, or a request with one",
  "codex-rollout": "Codex rollout (JSONL of session_meta, response_item …)",
  "pi-session": "pi session (JSONL with a session header, version 1 to 3)",
  "claude-code": "Claude Code transcript (JSONL of user and assistant lines)",
  "ai-sdk-ui": "AI SDK UIMessage array (version 5 and later)",
  "ai-sdk-model": "AI SDK ModelMessage array (version 5 and later)",
  langchain: "LangChain messages, serialised (messages_to_dict, or constructors with lc: 1)",
  "agents-sdk": "OpenAI Agents SDK for JavaScript: AgentInputItem array",
} as const;

/** The name of a known format of histories. */
export type FormatName = keyof typeof FORMATS;

/** Returns whether a text is the name of a known format. */
export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(FORMATS, name);
}

export const aFormat = aChoice(...Object.keys(FORMATS));
