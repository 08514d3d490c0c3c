/**
 * The shape of settings in a log. A field that an earlier version did not write is optional. Profiles and tools may come
 * from JavaScript, and earlier versions logged them unchecked: where an absent field has a plain meaning, it may be
 * absent.
 */

import type { Origin } from "./origin.ts";
import type {
  Capabilities,
  ChatProfile,
  McpToolName,
  Profile,
  RequestField,
  ServerInstructions,
  Settings,
  ToolSpec,
} from "./settings.ts";
import {
  type Check,
  count,
  fields,
  flag,
  json,
  listOf,
  mapOf,
  oneOf,
  optional,
  type RequiredCheck,
  shapeOf,
  text,
} from "./shape.ts";

function unlessAbsent(check: RequiredCheck): RequiredCheck {
  return (value) => (value === undefined ? undefined : check(value));
}

const dialect = oneOf("openai-responses", "openai-chat", "anthropic-messages");

export const origin = shapeOf<Origin>({
  provider: text,
  dialect,
  model: text,
  endpoint: text,
  credential: text,
});

const requestField = shapeOf<RequestField>({
  field: text,
  value: (value) =>
    typeof value === "string" || typeof value === "boolean" ? undefined : " is not a string or a boolean",
});

const chat = shapeOf<ChatProfile>({
  reasoningFields: listOf(text),
  fieldsApart: optional(flag),
  reasoningRequired: text,
  whenNone: optional(text),
  thinkingSwitch: text,
  thinkingOff: optional(text),
  sendEffort: flag,
  effortWords: optional(mapOf(text)),
  maxTokensField: text,
  userAfterTool: flag,
  userAfterUser: optional(flag),
  sendUsageOption: flag,
  sendStrict: flag,
  showThoughts: optional(requestField),
  keepThoughts: optional(requestField),
});

const profile = shapeOf<Profile>({
  name: text,
  dialect,
  responseForm: optional(oneOf("items", "blocks", "message")),
  itemIds: unlessAbsent(text),
  maxItemIdLength: unlessAbsent(count),
  maxCallIdLength: unlessAbsent(count),
  callIdPattern: optional(text),
  callIdsRepeat: unlessAbsent(flag),
  reasoningContent: unlessAbsent(text),
  reasoningPayload: unlessAbsent(text),
  prefixBound: unlessAbsent(flag),
  sendInclude: unlessAbsent(flag),
  sendStore: unlessAbsent(flag),
  sendPromptCacheKey: unlessAbsent(flag),
  hostedOmit: unlessAbsent(listOf(text)),
  omitsAlone: optional(flag),
  unitesParameters: optional(flag),
  serverCustomCalls: optional(flag),
  itemIdsRepeat: optional(flag),
  patienceMs: optional(count),
  chat: optional(chat),
  evidence: unlessAbsent(mapOf(text)),
});

const capabilities = shapeOf<Capabilities>({
  reasoning: flag,
  sampling: flag,
  vision: flag,
  contextTokens: optional(count),
  thinking: optional(text),
  thinkingOff: optional(text),
  readsThoughtsOf: optional(text),
  forcedTools: optional(flag),
  maxOutputTokens: optional(count),
});

const tool = shapeOf<ToolSpec>({
  name: text,
  description: unlessAbsent(text),
  parameters: json,
  strict: unlessAbsent(flag),
  mcp: optional(shapeOf<McpToolName>({ server: text, tool: text })),
});

const policy = oneOf("all", "since_last_user", "none");
const maxItems = fields({ maxItems: count } satisfies Record<string, Check>);

export const settings = shapeOf<Settings>({
  target: origin,
  effort: optional(text),
  summary: optional(text),
  reasoningContext: optional(text),
  system: optional(text),
  serverInstructions: optional(listOf(shapeOf<ServerInstructions>({ server: text, text }))),
  tools: listOf(tool),
  hosted: listOf(json),
  replay: (value) => (typeof value === "string" ? policy(value) : maxItems(value)),
  foreign: optional(text),
  profile,
  capabilities,
  maxOutputTokens: optional(count),
  output: optional(fields({ name: text, schema: json, strict: flag })),
  parameters: json,
  renderer: count,
});
