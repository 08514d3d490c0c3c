/** A finished content block: its text as the input accepts it back, and our reading of it. */

import { isObject, sliceObject, stringOf, toRawJson, tryParseJson } from "../../../base/support/index.ts";
import { assertItemDepth } from "../item-depth.ts";
import type { ItemDraft } from "../provider.ts";
import { isServerBlock } from "./block-fields.ts";

export function blockDraft(text: string, outputIndex: number): ItemDraft {
  assertItemDepth(text);
  const members = new Map(sliceObject(text).map(({ key, value }) => [key, value]));
  const read = (key: string): string => stringOf(tryParseJson(members.get(key) ?? "null")) ?? "";
  const itemType = read("type") || "unknown";
  const base = { outputIndex, itemType, item: toRawJson(text) };
  switch (itemType) {
    case "thinking": {
      const thought = read("thinking");
      const parts = thought === "" ? [] : [{ kind: "text" as const, text: thought }];
      return { ...base, type: "reasoning", opaque: read("signature") !== "", parts };
    }
    case "redacted_thinking":
      return { ...base, type: "reasoning", opaque: read("data") !== "", parts: [] };
    case "text":
      return { ...base, type: "assistant_message", text: read("text") };
    case "tool_use":
      return {
        ...base,
        type: "tool_call",
        callId: read("id"),
        name: read("name"),
        arguments: members.get("input") ?? "{}",
      };
    default:
      return { ...base, type: isServerBlock(itemType, members) ? "hosted_item" : "other_item" };
  }
}

/** Returns a tool's input: the model's text if it is a JSON object, otherwise that text in a marked wrapper. */
export function inputText(written: string): string {
  if (written.trim() === "") return "{}";
  return isObject(tryParseJson(written)) ? written : JSON.stringify({ invalid_json: written });
}
