/** A finished item: its exact text and our reading of it. Payloads are not parsed. */

import type { ReasoningPart } from "../../../base/events/index.ts";
import {
  arrayOf,
  isObject,
  objectOf,
  sliceObject,
  stringOf,
  toRawJson,
  tryParseJson,
} from "../../../base/support/index.ts";
import { HOSTED_ITEMS } from "../../wire/index.ts";
import { assertItemDepth } from "../item-depth.ts";
import type { ItemDraft } from "../provider.ts";
import { clientCall } from "./client-calls.ts";

export function itemDraft(text: string, outputIndex: number): ItemDraft {
  assertItemDepth(text);
  const members = new Map(sliceObject(text).map(({ key, value }) => [key, value]));
  const read = (key: string): unknown => tryParseJson(members.get(key) ?? "null");
  const itemType = stringOf(read("type")) ?? "unknown";
  const id = stringOf(read("id"));
  const base = {
    outputIndex,
    itemType,
    ...(id === undefined || id === "" ? {} : { itemId: id }),
    item: toRawJson(text),
  };
  if (itemType === "reasoning") {
    return {
      ...base,
      type: "reasoning",
      opaque: isPayload(members.get("encrypted_content")),
      parts: reasoningParts(read),
    };
  }
  if (itemType === "message") {
    return {
      ...base,
      type: "assistant_message",
      ...messageText(read("content")),
      ...optional("phase", stringOf(read("phase"))),
    };
  }
  const call = clientCall(itemType, { read, text: (key) => members.get(key) });
  if (call !== undefined) return { ...base, type: "tool_call", ...call };
  if (!HOSTED_ITEMS.has(itemType)) return { ...base, type: "other_item" };
  return { ...base, type: "hosted_item", ...optional("answers", answeredBy(itemType, read)) };
}

/** The call an item is the output of. An approval and an approved call name the request they answer. */
function answeredBy(itemType: string, read: (key: string) => unknown): string | undefined {
  if (itemType.startsWith("mcp_")) return stringOf(read("approval_request_id"));
  return itemType.endsWith("_output") ? stringOf(read("call_id")) : undefined;
}

/** Whether an `encrypted_content` holds a payload; null and "" mean none (failures.md S10). */
export function isPayload(value: string | undefined): boolean {
  return value !== undefined && value !== "null" && value !== '""';
}

function reasoningParts(read: (key: string) => unknown): readonly ReasoningPart[] {
  return [
    ...textsIn(read("summary")).map((text) => ({ kind: "summary" as const, text })),
    ...textsIn(read("content")).map((text) => ({ kind: "text" as const, text })),
  ];
}

function textsIn(parts: unknown): readonly string[] {
  return arrayOf(parts).flatMap((part) =>
    isObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
}

function messageText(content: unknown): { readonly text: string; readonly refusal?: string } {
  let text = "";
  let refusal = "";
  for (const part of arrayOf(content).map((one) => objectOf(one))) {
    text += stringOf(part["text"]) ?? "";
    refusal += stringOf(part["refusal"]) ?? "";
  }
  return { text, ...(refusal === "" ? {} : { refusal }) };
}

function optional<K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: string });
}
