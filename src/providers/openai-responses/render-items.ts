/**
 * Plan entries → input items, as text. At home the provider's own text, field by field; abroad plain meaning (law 1).
 *
 * @module
 */

import type { InputPart, ToolCall } from "../../events/index.ts";
import type { Plan, PlanEntry, PlannedGroup, PlannedItem } from "../../fold/index.ts";
import { sliceObject } from "../../support/index.ts";
import type { ItemSource, RenderContext } from "../provider.ts";
import { inputFields } from "./item-fields.ts";

export interface RenderedItem {
  readonly text: string;
  readonly source: ItemSource;
}

export function renderEntry(entry: PlanEntry, plan: Plan, context: RenderContext): readonly RenderedItem[] {
  if (entry.kind === "user") {
    const role = entry.event.by === "person" ? "user" : "developer";
    return [
      message(
        role,
        entry.event.content.map((part) => inputPart(part, context)),
      ),
    ];
  }
  if (entry.kind === "summary") {
    const text = `Summary of the conversation so far:\n\n${entry.event.summary}`;
    return [message("developer", [{ type: "input_text", text }])];
  }
  return renderGroup(entry, plan);
}

function renderGroup(entry: PlannedGroup, plan: Plan): readonly RenderedItem[] {
  const response = entry.group.start.response;
  const items = entry.items
    .filter((item) => item.action !== "omit")
    .map((item): RenderedItem => {
      const { itemId, itemType } = item.event;
      const source = {
        response,
        itemType,
        ...(itemId === undefined ? {} : { itemId }),
        ...(item.callId === undefined ? {} : { callId: item.callId }),
      };
      return {
        text: item.action === "replay" ? verbatim(item, entry, plan) : translated(item, plan),
        source,
      };
    });
  const results = entry.results.map(({ callId, text, custom }): RenderedItem => {
    const type = custom ? "custom_tool_call_output" : "function_call_output";
    return {
      text: JSON.stringify({ type, call_id: callId, output: text }),
      source: { itemType: type, callId },
    };
  });
  return [...items, ...results];
}

/** The exact text of every field the input takes, in its order; `explain` and the log keep the rest. */
function verbatim(item: PlannedItem, entry: PlannedGroup, plan: Plan): string {
  const { itemType } = item.event;
  const allowed = inputFields(itemType, plan.settings.profile.reasoningContent) ?? [];
  const refused = plan.strip.filter((one) => one.itemType === itemType).map((one) => one.field);
  const members = sliceObject(item.item).filter(({ key, value }) => {
    if (key === "id") return entry.withIds;
    if (key === "encrypted_content" && value === "null") return false; // its meaning differs by endpoint (S10)
    return allowed.includes(key) && !refused.includes(key);
  });
  const parts = members.map(({ key, value }) =>
    key === "call_id" && item.callId !== undefined
      ? `"call_id":${JSON.stringify(item.callId)}`
      : `"${key}":${value}`,
  );
  // Required on input even when empty (failures.md S01).
  if (
    itemType === "reasoning" &&
    !members.some(({ key, value }) => key === "summary" && value.startsWith("["))
  ) {
    return `{${[...parts.filter((part) => !part.startsWith('"summary":')), '"summary":[]'].join(",")}}`;
  }
  return `{${parts.join(",")}}`;
}

function translated(item: PlannedItem, plan: Plan): string {
  const { event } = item;
  if (event.type === "tool_call") return JSON.stringify(plainCall(event, item.callId ?? event.callId));
  if (event.type !== "assistant_message") throw new Error(`a ${event.type} has no plain form`);
  const text = event.text === "" ? (event.refusal ?? "") : event.text;
  const content = [{ type: "output_text", text, annotations: [] }];
  const phaseRefused = plan.strip.some((one) => one.itemType === event.itemType && one.field === "phase");
  return JSON.stringify({
    type: "message",
    role: "assistant",
    content,
    ...(event.phase === undefined || phaseRefused ? {} : { phase: event.phase }),
  });
}

/** A custom tool's free-form input has no JSON of its own: abroad it becomes an ordinary call. */
function plainCall(call: ToolCall, callId: string): object {
  const text = call.custom === true ? JSON.stringify({ input: call.arguments }) : call.arguments;
  return { type: "function_call", call_id: callId, name: call.name, arguments: text };
}

function message(role: string, content: readonly object[]): RenderedItem {
  return { text: JSON.stringify({ type: "message", role, content }), source: { itemType: "message" } };
}

function inputPart(part: InputPart, context: RenderContext): object {
  if (part.type === "text") return { type: "input_text", text: part.text };
  if ("url" in part) return { type: "input_image", image_url: part.url, detail: "auto" };
  const data = "data" in part ? part.data : base64(context.blob(part.blob));
  if (data === undefined) return { type: "input_text", text: `[${part.type} no longer available]` };
  const url = `data:${part.mediaType};base64,${data}`;
  if (part.type === "image") return { type: "input_image", image_url: url, detail: "auto" };
  return { type: "input_file", filename: part.name, file_data: url };
}

function base64(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString("base64");
}
