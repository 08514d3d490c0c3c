/**
 * The form in which content crosses to another origin: plain meaning (law 1). It is the same for every dialect, so that
 * a history reads the same everywhere.
 */

import type { AssistantMessage, ToolCall } from "../../base/events/index.ts";
import { isObject, tryParseJson } from "../../base/support/index.ts";
import type { PlannedGroup, PlannedItem } from "../fold/index.ts";

export function plainText(message: AssistantMessage): string {
  return message.text.trim() === "" ? (message.refusal ?? message.text) : message.text;
}

/** Returns the arguments as the text of a JSON object, which every dialect accepts, whatever the model wrote. */
export function objectArguments(call: ToolCall): string {
  if (call.custom === true) return JSON.stringify({ input: call.arguments });
  if (call.arguments.trim() === "") return "{}";
  return isObject(tryParseJson(call.arguments))
    ? call.arguments
    : JSON.stringify({ invalid_json: call.arguments });
}

/**
 * Returns the readable summary of another model's reasoning, marked as such (`replay.otherModels: "note"`). It is never
 * in the assistant's own voice: a model adopts what it seems to have said (failures.md C16, V07).
 */
export function foreignNote(entry: PlannedGroup): string | undefined {
  if (!entry.items.some(isNote)) return undefined;
  const texts = entry.items
    .filter(isNote)
    .flatMap(({ event }) =>
      event.type === "reasoning" ? event.parts.map((part) => part.text).filter((text) => text !== "") : [],
    );
  if (texts.length === 0) return undefined;
  const { provider, model } = entry.group.origin;
  return `Note: before what follows, another model (${provider}/${model}) summarised its reasoning like this:\n\n${texts.join("\n\n")}`;
}

/** Reasoning is only ever translated into this note. */
export function isNote(item: PlannedItem): boolean {
  return item.event.type === "reasoning" && item.action === "translate";
}
