/**
 * Plan entries → input items, as text. At home, the provider's own text field by field; abroad, plain meaning (law 1).
 */

import type { ItemSketch, ToolCall } from "../../../base/events/index.ts";
import { type Member, sliceObject } from "../../../base/support/index.ts";
import {
  type GroupSketch,
  type Plan,
  type PlanEntry,
  type PlannedGroup,
  type PlannedItem,
  type PlannedResult,
  resultOf,
} from "../../fold/index.ts";
import { callOutput, type ItemOutline, outlineOf } from "../../rules/index.ts";
import type { RenderedElement } from "../growing-request.ts";
import { type ReadyPart, readyParts } from "../input-parts.ts";
import { foreignNote, isNote, plainText } from "../plain-meaning.ts";
import type { ItemSource, RenderContext } from "../provider.ts";
import { resultContent } from "../result-content.ts";
import { inputFields } from "./item-fields.ts";
import { wholeItem, wholeOutput } from "./whole-items.ts";
import { callerOf } from "./whole-pairs.ts";

export function renderEntry(
  entry: PlanEntry,
  plan: Plan,
  context: RenderContext,
): readonly RenderedElement[] {
  if (entry.kind === "user") {
    const role = entry.event.by === "person" ? "user" : "developer";
    return [message(role, readyParts(entry.event.content, plan.settings, context).map(inputPart))];
  }
  if (entry.kind === "summary") {
    const text = `Summary of the conversation so far:\n\n${entry.event.summary}`;
    return [message("developer", [{ type: "input_text", text }])];
  }
  if (entry.whole !== undefined && plan.strip.length === 0) return renderWhole(entry, entry.whole, plan);
  const note = foreignNote(entry);
  const elements = renderGroup(entry, plan, context);
  return note === undefined
    ? elements
    : [message("developer", [{ type: "input_text", text: note }]), ...elements];
}

/** A group that is sent as it is. Its events are decoded only for what has to be cut: messages, and rare calls. */
function renderWhole(entry: PlannedGroup, whole: GroupSketch, plan: Plan): readonly RenderedElement[] {
  const { response = "" } = entry.group.head;
  const { reasoningContent, itemIdsRepeat: idsRepeat } = plan.settings.profile;
  const piece = { group: response, idsRepeat };
  const elements: RenderedElement[] = [];
  const { items, results } = whole;
  for (let at = 0; at < items.length; at += 1) {
    const sketch = items[at] as ItemSketch;
    const { item } = sketch;
    const outline = reasoningContent === "empty" ? wholeItem(sketch, item, entry.withIds) : undefined;
    const sources = (): readonly ItemSource[] => [sourceOf(entry.items[at] as PlannedItem, response)];
    if (outline !== undefined) elements.push({ text: item, outline, sources, piece });
    else elements.push({ ...verbatim(entry.items[at] as PlannedItem, entry, plan), sources, piece });
  }
  for (const { type, itemType, callId } of items) {
    if (type !== "tool_call") continue;
    const json = itemType === "function_call" ? resultOf(callId, results)?.json : undefined;
    const output = json === undefined ? undefined : wholeOutput(callId, json);
    const { text, outline } = output ?? ofMembers(outputOf(entry, callId));
    elements.push({ text, outline, sources: () => [{ path: "", itemType: OUTPUT, callId }] });
  }
  return elements;
}

function outputOf(entry: PlannedGroup, callId: string): readonly Member[] {
  const call = entry.items.find((item) => item.callId === callId);
  const result = entry.results.find((one) => one.callId === callId) as PlannedResult;
  return outputMembers(call, result, result.text);
}

const OUTPUT = "function_call_output";

function renderGroup(entry: PlannedGroup, plan: Plan, context: RenderContext): readonly RenderedElement[] {
  const { response } = entry.group.start;
  const ours = { group: response, idsRepeat: plan.settings.profile.itemIdsRepeat };
  const hosted = { ...ours, hosted: true };
  const elements: RenderedElement[] = [];
  for (const item of entry.items) {
    if (item.action === "omit" || isNote(item)) continue;
    const { text, outline } =
      item.action === "replay" ? verbatim(item, entry, plan) : { text: translated(item, plan) };
    const piece = entry.group.ranByProvider(item.event) ? hosted : ours;
    elements.push({ text, outline, sources: () => [sourceOf(item, response)], piece });
  }
  for (const result of entry.results) {
    const call = entry.items.find(({ callId }) => callId === result.callId);
    const content = resultContent(result, plan, context);
    elements.push({
      ...ofMembers(outputMembers(call, result, content)),
      sources: () => [{ path: "", itemType: OUTPUT, callId: result.callId }],
      piece: undefined,
    });
  }
  return elements;
}

/**
 * The output in the form the call requires, if the call is sent verbatim; otherwise both are plain. The output of a
 * program's call repeats its `caller`.
 */
function outputMembers(
  call: PlannedItem | undefined,
  result: PlannedResult,
  content: string | readonly ReadyPart[],
): readonly Member[] {
  const verbatimCall = call?.action === "replay" ? call : undefined;
  const itemType = verbatimCall?.event.itemType ?? "function_call";
  const plain = callOutput(itemType, typeof content === "string" ? { ...result, text: content } : result);
  // Only these outputs may be lists of parts (openai 7.53 responses.d.ts).
  const takesParts = plain["type"] === "function_call_output" || plain["type"] === "custom_tool_call_output";
  const output =
    takesParts && typeof content !== "string" ? { ...plain, output: content.map(inputPart) } : plain;
  const members = Object.entries(output).map(([key, value]) => ({ key, value: JSON.stringify(value) }));
  const caller = verbatimCall === undefined ? undefined : callerOf(verbatimCall);
  return caller === undefined ? members : [...members, { key: "caller", value: caller }];
}

function sourceOf({ event: { itemId, itemType }, callId }: PlannedItem, response: string): ItemSource {
  return { path: "", response, itemType, itemId, callId };
}

interface Text {
  readonly text: string;
  readonly outline?: ItemOutline;
}

/** The exact text of every field the input accepts, in its order; `explain` and the log keep the rest. */
function verbatim(item: PlannedItem, entry: PlannedGroup, plan: Plan): Text {
  const { itemType } = item.event;
  const allowed = inputFields(itemType, plan.settings.profile.reasoningContent) ?? [];
  const refused = plan.strip.length === 0 ? [] : strippedFrom(itemType, plan);
  const members: Member[] = [];
  let length = 1; // the opening brace; then each member plus the comma or brace after it
  let hasSummary = false;
  for (const member of sliceObject(item.item)) {
    const { key, value } = member;
    if (key === "id" ? !entry.withIds : !allowed.includes(key) || refused.includes(key)) continue;
    if (key === "encrypted_content" && value === "null") continue; // its meaning differs between endpoints (S10)
    if (key === "summary") {
      if (itemType === "reasoning" && !value.startsWith("[")) continue;
      hasSummary = true;
    }
    const text = asSent(key, value, item);
    if (text !== value) length = Number.NaN;
    members.push(text === value ? member : { key, value: text });
    length += key.length + value.length + 4;
  }
  // The input requires it even if it is empty (failures.md S01).
  if (itemType === "reasoning" && !hasSummary) members.push({ key: "summary", value: "[]" });
  // If nothing was left out, changed or spaced, reuse the received text without a copy.
  else if (length === item.item.length) return { text: item.item, outline: outlineOf(members) };
  return ofMembers(members);
}

/** The parts of a call that may differ from the provider's own text. */
function asSent(key: string, value: string, { event, callId, name }: PlannedItem): string {
  if (event.type !== "tool_call") return value;
  if (key === "call_id" && callId !== undefined) return JSON.stringify(callId);
  return key === "name" && name !== undefined && name !== event.name ? JSON.stringify(name) : value;
}

function strippedFrom(itemType: string, plan: Plan): readonly string[] {
  return plan.strip.filter((one) => one.itemType === itemType).map((one) => one.field);
}

/** Keys here are names of input fields, so they need no escaping. */
function ofMembers(members: readonly Member[]): Text {
  const text = `{${members.map(({ key, value }) => `"${key}":${value}`).join(",")}}`;
  return { text, outline: outlineOf(members) };
}

function translated(item: PlannedItem, plan: Plan): string {
  const { event } = item;
  if (event.type === "tool_call") return JSON.stringify(plainCall(event, item));
  if (event.type !== "assistant_message") throw new Error(`a ${event.type} has no plain form`);
  const content = [{ type: "output_text", text: plainText(event), annotations: [] }];
  const phaseRefused = plan.strip.some((one) => one.itemType === event.itemType && one.field === "phase");
  return JSON.stringify({
    type: "message",
    role: "assistant",
    content,
    ...(event.phase === undefined || phaseRefused ? {} : { phase: event.phase }),
  });
}

/** A custom tool's free-form input is not JSON: abroad it becomes an ordinary call. */
function plainCall(call: ToolCall, { callId = call.callId, name = call.name }: PlannedItem): object {
  const text = call.custom === true ? JSON.stringify({ input: call.arguments }) : call.arguments;
  return { type: "function_call", call_id: callId, name, arguments: text };
}

function message(role: string, content: readonly object[]): RenderedElement {
  return {
    text: JSON.stringify({ type: "message", role, content }),
    sources: () => [{ path: "", itemType: "message" }],
  };
}

function inputPart(part: ReadyPart): object {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  if (part.kind === "image_url") return { type: "input_image", image_url: part.url, detail: "auto" };
  const url = `data:${part.mediaType};base64,${part.data}`;
  if (part.kind === "image") return { type: "input_image", image_url: url, detail: "auto" };
  return { type: "input_file", filename: part.name, file_data: url };
}
