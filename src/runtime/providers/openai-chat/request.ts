/**
 * Plan → request body of the chat-completions dialect. Fields that depend on the whole conversation (thinking) come
 * after the messages, so that everything before them keeps the same bytes.
 */

import type { Settings } from "../../../base/events/index.ts";
import { isObject, type JsonObject } from "../../../base/support/index.ts";
import {
  type Plan,
  type PlanEntry,
  type PlannedItem,
  sendsReasoning,
  withoutReasoning,
  withItems,
} from "../../fold/index.ts";
import { createRequestCheck } from "../../rules/index.ts";
import type { RenderedElement, RequestForm, Tail } from "../growing-request.ts";
import { closeBody, definedOnly, freeParameters, openBody, refusedFields } from "../request-fields.ts";
import { systemTextOf } from "../system-text.ts";
import { chatOf } from "./chat-profile.ts";
import { renderEntry } from "./render-messages.ts";
import { movedParameters, thinkingOf } from "./thinking.ts";

export const RENDERER_VERSION = 1;

export const CHAT_FORM: RequestForm = {
  head: headOf,
  prefixHead: ({ settings }) => JSON.stringify(toolsOf(settings)),
  guard: guardFields,
  pathOf: (index) => `messages.${index}`,
  opening: ({ settings }) => systemMessage(settings),
  render: renderEntry,
  tail: tailOf,
  startCheck: ({ settings }, parameters) => {
    const { reasoningFields, reasoningRequired, userAfterTool } = chatOf(settings);
    const { maxCallIdLength } = settings.profile;
    return createRequestCheck("openai-chat", {
      head: parameters,
      traits: { reasoningFields, reasoningRequired, userAfterTool, maxCallIdLength, unknownField: "ignored" },
    });
  },
};

function systemMessage(settings: Settings): readonly RenderedElement[] {
  const system = systemTextOf(settings);
  if (system === undefined || system === "") return [];
  const text = JSON.stringify({ role: "system", content: system });
  return [{ text, sources: () => [{ path: "", itemType: "message" }] }];
}

/** Sends a thought back only in a field this endpoint accepts and has not refused (failures.md V03–V06). */
function guardFields(entry: PlanEntry, plan: Plan): PlanEntry {
  if (entry.kind !== "group" || !sendsReasoning(entry)) return entry;
  const { reasoningFields, fieldsApart } = chatOf(plan.settings);
  const isWrong = ({ event, action }: PlannedItem): boolean => {
    if (event.type !== "reasoning" || action !== "replay") return false;
    const refused = plan.strip.some((one) => one.field === event.itemType);
    return refused || !(reasoningFields as readonly string[]).includes(event.itemType);
  };
  const wrong = entry.items.find(isWrong);
  if (wrong === undefined) return entry;
  const reason = "item_not_replayable";
  const why = `the endpoint does not accept ${wrong.event.itemType} back`;
  const bare = withoutReasoning(entry, reason, why);
  if (fieldsApart !== true) return bare;
  return withItems(
    bare,
    entry.items.map((item) => (isWrong(item) ? { ...item, action: "omit", reason, why } : item)),
  );
}

function headOf(plan: Plan): string {
  const { settings } = plan;
  const { capabilities, parameters } = settings;
  const chat = chatOf(settings);
  const tools = toolsOf(settings);
  const { temperature, top_p } = parameters;
  const limit = settings.maxOutputTokens ?? capabilities.maxOutputTokens;
  const body: Record<string, unknown> = {
    model: settings.target.model,
    stream: true,
    ...(chat.sendUsageOption ? { stream_options: { include_usage: true } } : {}),
    ...(tools.length === 0 ? {} : { tools }),
    ...(limit === undefined ? {} : { [chat.maxTokensField]: limit }),
    ...(settings.output === undefined
      ? {}
      : { response_format: { type: "json_schema", json_schema: settings.output } }),
    ...(capabilities.sampling ? definedOnly({ temperature, top_p }) : {}),
    ...freeParameters(settings, FIXED_FIELDS),
  };
  // These are in the tail instead, next to our own.
  const moved = Object.keys(movedParameters(settings));
  return openBody(body, [...refusedFields(plan), ...moved], "messages");
}

/** Users cannot set these: they determine how the history is read. */
const FIXED_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "tools",
  "stream",
  "store",
  "n",
  "temperature",
  "top_p",
]);

function tailOf(entries: readonly PlanEntry[], plan: Plan): Tail {
  const { fields, remarks } = thinkingOf(entries, plan);
  return closeBody(refusedFields(plan).reduce(withoutField, fields), remarks);
}

/** Removes a dotted path as errors name it (`thinking.keep`), and objects that become empty. */
function withoutField(fields: JsonObject, path: string): JsonObject {
  const [name = "", ...rest] = path.split(".");
  const { [name]: value, ...others } = fields;
  if (rest.length === 0) return others;
  if (!isObject(value)) return fields;
  const left = withoutField(value, rest.join("."));
  return Object.keys(left).length === 0 ? others : { ...fields, [name]: left };
}

function toolsOf(settings: Settings): readonly object[] {
  const { sendStrict } = chatOf(settings);
  return settings.tools.map(({ name, description, parameters, strict }) => ({
    type: "function",
    function: { name, description, parameters, ...(sendStrict ? { strict } : {}) },
  }));
}
