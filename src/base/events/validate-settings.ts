/** The shape of settings in a log. A field that an earlier version did not write is optional. */

import type { Origin } from "./origin.ts";
import type { Capabilities, ChatProfile, Profile, RequestField, Settings, ToolSpec } from "./settings.ts";
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
  shapeOf,
  text,
} from "./shape.ts";

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
  itemIds: text,
  maxItemIdLength: count,
  maxCallIdLength: count,
  callIdPattern: optional(text),
  callIdsRepeat: flag,
  reasoningContent: text,
  reasoningPayload: text,
  prefixBound: flag,
  sendInclude: flag,
  sendStore: flag,
  sendPromptCacheKey: flag,
  hostedOmit: listOf(text),
  omitsAlone: optional(flag),
  unitesParameters: optional(flag),
  serverCustomCalls: optional(flag),
  itemIdsRepeat: optional(flag),
  patienceMs: optional(count),
  chat: optional(chat),
  evidence: mapOf(text),
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

const maxItems = fields({ maxItems: count } satisfies Record<string, Check>);

export const settings = shapeOf<Settings>({
  target: origin,
  effort: optional(text),
  summary: optional(text),
  reasoningContext: optional(text),
  system: optional(text),
  tools: listOf(shapeOf<ToolSpec>({ name: text, description: text, parameters: json, strict: flag })),
  hosted: listOf(json),
  replay: (value) => (typeof value === "string" ? undefined : maxItems(value)),
  foreign: optional(text),
  profile,
  capabilities,
  maxOutputTokens: optional(count),
  output: optional(fields({ name: text, schema: json, strict: flag })),
  parameters: json,
  renderer: count,
});
