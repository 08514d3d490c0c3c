/**
 * Plan entries → chat messages, as text. One response is one assistant message. Its thoughts are sent back in the field
 * they arrived in, and only to the endpoint that made them (failures.md V06). Abroad: plain meaning.
 */

import type { ToolCall, UserMessage } from "../../../base/events/index.ts";
import { sliceMember, sliceObject, stringOf, tryParseJson } from "../../../base/support/index.ts";
import {
  type Plan,
  type PlanEntry,
  type PlannedGroup,
  type PlannedItem,
  sendsReasoning,
  withItems,
} from "../../fold/index.ts";
import type { RenderedElement } from "../growing-request.ts";
import { fileAsText, type ReadyPart, readyParts } from "../input-parts.ts";
import { USER_AFTER_TOOL, USER_AFTER_USER } from "../named-in-error.ts";
import { foreignNote, isNote, objectArguments, plainText } from "../plain-meaning.ts";
import type { ItemSource, RenderContext } from "../provider.ts";
import { refusedFields } from "../request-fields.ts";
import { chatOf } from "./chat-profile.ts";
import { askedForAt } from "./thinking.ts";

export function renderEntry(
  entry: PlanEntry,
  plan: Plan,
  context: RenderContext,
  before: RenderedElement | undefined,
): readonly RenderedElement[] {
  if (entry.kind !== "group") {
    const message =
      entry.kind === "user"
        ? userMessage(entry.event, plan, context)
        : element("user", `Summary of the conversation so far:\n\n${entry.event.summary}`);
    return [...bridge(before, plan), message];
  }
  const note = foreignNote(entry);
  const noted = note === undefined ? [] : [...bridge(before, plan), element("user", note)];
  if (goesAsNote(entry, plan)) return [...noted, ...callsAsNote(entry, before, plan)];
  return [...noted, ...groupMessages(entry, plan)];
}

/**
 * Whether a group's calls become a note. This is for a model that always thinks and has demanded the thoughts of
 * another model's calls: neither demand can be met, so the calls are described instead of sent.
 */
function goesAsNote(entry: PlannedGroup, plan: Plan): boolean {
  if (chatOf(plan.settings).thinkingOff !== "never" || entry.results.length === 0) return false;
  return askedForAt(plan) !== undefined && !sendsReasoning(entry);
}

function callsAsNote(
  entry: PlannedGroup,
  before: RenderedElement | undefined,
  plan: Plan,
): readonly RenderedElement[] {
  const said = groupMessages({ ...withItems(entry, entry.items.filter(isNoCall)), results: [] }, plan);
  const told = entry.results.map(({ callId, text }) => {
    const call = entry.items.find((item) => item.callId === callId)?.event;
    const asked = call?.type === "tool_call" ? `${call.name} ${objectArguments(call)}` : "a tool";
    return `${asked}\nanswered: ${text}`;
  });
  const note = `Note: tools were called here, by another model or without its thoughts:\n\n${told.join("\n\n")}`;
  const bridged = said.length > 0 ? [] : bridge(before, plan);
  return [...said, ...bridged, element("user", note)];
}

function isNoCall({ event }: PlannedItem): boolean {
  return event.type !== "tool_call";
}

/**
 * Mistral refuses a user message after a tool message (code 3230), and the old DeepSeek reasoner refuses one after
 * another user message. An assistant message between them satisfies both.
 */
function bridge(before: RenderedElement | undefined, plan: Plan): readonly RenderedElement[] {
  const { userAfterTool, userAfterUser } = chatOf(plan.settings);
  const follows = (role: string): boolean => before?.text.startsWith(`{"role":"${role}"`) === true;
  const needed = (follows("tool") && !userAfterTool) || (follows("user") && userAfterUser === false);
  const refused = refusedFields(plan);
  const learnt =
    (follows("tool") && refused.includes(USER_AFTER_TOOL)) ||
    (follows("user") && refused.includes(USER_AFTER_USER));
  return needed || learnt ? [element("assistant", "(interrupted)")] : [];
}

function groupMessages(entry: PlannedGroup, plan: Plan): readonly RenderedElement[] {
  const response = entry.group.start.response;
  const sent = entry.items.filter((item) => item.action !== "omit" && !isNote(item));
  const thoughts = sent.filter((item) => item.event.type === "reasoning");
  const calls = sent.filter((item) => item.event.type === "tool_call");
  const text = sent
    .map((item) => (item.event.type === "assistant_message" ? plainText(item.event) : ""))
    .join("");
  if (text === "" && calls.length === 0) return [];
  const fields = [
    `"role":"assistant"`,
    contentField(thoughts, text),
    ...(thoughts.length === 0 ? noThoughts(plan) : reasoningFields(thoughts)),
    ...(calls.length === 0 ? [] : [`"tool_calls":[${calls.map((item) => callText(item)).join(",")}]`]),
  ];
  const sources = (): readonly ItemSource[] =>
    sent.map((item) => ({ path: "", response, itemType: item.event.itemType, callId: item.callId }));
  const reasoningMade = entry.group.items.filter((item) => item.type === "reasoning").length;
  const foreign = sent.some((item) => item.reason === "foreign_origin");
  return [
    {
      text: `{${fields.join(",")}}`,
      sources,
      piece: { group: response, reasoningMade, ...(foreign ? { foreign } : {}) },
    },
    ...entry.results.map(({ callId, text: output }): RenderedElement => ({
      text: JSON.stringify({ role: "tool", tool_call_id: callId, content: output }),
      sources: () => [{ path: "", itemType: "tool", callId }],
    })),
  ];
}

/** Mistral's thoughts are parts of the content, before the text. */
function contentField(thoughts: readonly PlannedItem[], text: string): string {
  const parts = thoughts
    .filter(({ event }) => event.itemType === "content_thinking")
    .map(({ item }) => {
      const part = sliceMember(item, "content_thinking") ?? '""';
      // Earlier versions kept only the text.
      return part.startsWith("{") ? part : `{"type":"thinking","thinking":[{"type":"text","text":${part}}]}`;
    });
  const said = text === "" ? [] : [JSON.stringify({ type: "text", text })];
  if (parts.length > 0) return `"content":[${[...parts, ...said].join(",")}]`;
  return `"content":${text === "" ? "null" : JSON.stringify(text)}`;
}

/** States explicitly that there were no thoughts, for endpoints that require it. */
function noThoughts({ settings }: Plan): readonly string[] {
  const { whenNone, reasoningFields: taken } = chatOf(settings);
  return whenNone === "empty" && taken[0] !== undefined ? [`"${taken[0]}":""`] : [];
}

/** Joins the parts of one field back into one field, as the vendor sent it. */
function reasoningFields(thoughts: readonly PlannedItem[]): readonly string[] {
  const fields = new Map<string, PlannedItem[]>();
  for (const thought of thoughts) {
    const { itemType } = thought.event;
    if (itemType !== "content_thinking") fields.set(itemType, [...(fields.get(itemType) ?? []), thought]);
  }
  return [...fields].map(([field, items]) => {
    const [only] = items;
    if (items.length === 1 && only !== undefined)
      return `"${field}":${sliceMember(only.item, field) ?? '""'}`;
    return `"${field}":${JSON.stringify(items.map(({ item }) => fieldText(item, field)).join(""))}`;
  });
}

function fieldText(item: string, field: string): string {
  return stringOf(tryParseJson(sliceMember(item, field) ?? "null")) ?? "";
}

function callText(item: PlannedItem): string {
  const { event } = item;
  if (event.type !== "tool_call") throw new Error(`a ${event.type} is not a call`);
  const id = JSON.stringify(item.callId ?? event.callId);
  const name = item.name ?? event.name;
  if (item.action === "replay") {
    const parts = sliceObject(item.item).map(({ key, value }) => {
      if (key === "id") return `"id":${id}`;
      return `"${key}":${key === "function" ? functionText(value, event, name) : value}`;
    });
    return `{${parts.join(",")}}`;
  }
  return `{"id":${id},"type":"function","function":${JSON.stringify({ name, arguments: objectArguments(event) })}}`;
}

/**
 * As received, except for a renamed tool and for arguments that not every endpoint accepts: Qwen refuses invalid JSON
 * and vLLM parses it. Such a call never ran.
 */
function functionText(called: string, event: ToolCall, name: string): string {
  const written = objectArguments(event);
  const whole = event.custom === true || written === event.arguments;
  if (name === event.name && whole) return called;
  const parts = sliceObject(called).map(({ key, value }) => {
    if (key === "name") return `"name":${JSON.stringify(name)}`;
    return `${JSON.stringify(key)}:${key === "arguments" && !whole ? JSON.stringify(written) : value}`;
  });
  return `{${parts.join(",")}}`;
}

function userMessage(event: UserMessage, plan: Plan, context: RenderContext): RenderedElement {
  const parts = readyParts(event.content, plan.settings, context);
  const plain = parts.every((part) => part.kind === "text");
  if (plain)
    return element("user", parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n\n"));
  return element("user", parts.map(contentPart));
}

function contentPart(part: ReadyPart): object {
  if (part.kind === "text") return { type: "text", text: part.text };
  if (part.kind === "image_url") return { type: "image_url", image_url: { url: part.url } };
  if (part.kind === "image") {
    return { type: "image_url", image_url: { url: `data:${part.mediaType};base64,${part.data}` } };
  }
  return { type: "text", text: fileAsText(part) };
}

function element(role: string, content: string | readonly object[]): RenderedElement {
  return { text: JSON.stringify({ role, content }), sources: () => [{ path: "", itemType: "message" }] };
}
