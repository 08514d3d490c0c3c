/**
 * The history behind a request: its own input items and, in stored mode, those of the responses before it. Also the
 * hash chain over the content before each position (H06), in a form that does not depend on ids or ciphertext.
 */

import { createHash } from "node:crypto";

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { ModelTraits } from "../../model-traits.ts";
import { hashText, type Seal, type Sealed, type SignedId } from "../../seal.ts";
import type { Switches } from "../../switches.ts";
import { typeOfItem } from "./item-shape.ts";

export interface ContextItem {
  readonly item: JsonObject;
  readonly type: string;
  readonly id: string | undefined;
  readonly callId: string | undefined;
  /** The index in the request's `input`; `undefined` for items the server had stored. */
  readonly index: number | undefined;
  /** The decoded id, if this server issued it. */
  readonly signed: SignedId | undefined;
  /** The response and output index, if the item's id or call id proves them. */
  readonly address: { readonly uid: string; readonly index: number } | undefined;
  /** The server's copy of a stored reasoning item, which then needs no ciphertext. */
  readonly stored: Sealed | undefined;
}

export interface HistoryQuestion {
  readonly context: readonly ContextItem[];
  /** `chain[i]`: the hash of everything before context item i. */
  readonly chain: readonly string[];
  readonly model: string;
  readonly traits: ModelTraits;
  readonly account: string;
  readonly store: boolean;
  readonly switches: Switches;
  readonly seal: Seal;
}

export function toContextItem(
  item: JsonObject,
  options: {
    readonly seal: Seal;
    readonly index?: number | undefined;
    readonly stored?: Sealed | undefined;
  },
): ContextItem {
  const type = typeOfItem(item);
  const id = stringOf(item["id"]);
  const callId = stringOf(item["call_id"]);
  const isCall = !type.endsWith("_output") && callId !== undefined;
  const signed = id === undefined ? undefined : options.seal.readId(id);
  const address = signed ?? (isCall ? options.seal.readCallId(callId) : undefined);
  return {
    item,
    type,
    id,
    callId,
    index: options.index,
    signed,
    address: address === undefined ? undefined : { uid: address.uid, index: address.index },
    stored: options.stored,
  };
}

/** All text of a message, in order: what a person would call "the same message". */
export function messageText(item: JsonObject): string {
  const { content } = item;
  if (typeof content === "string") return content;
  return arrayOf(content)
    .map((part) => {
      const { text, refusal } = objectOf(part);
      return stringOf(text) ?? stringOf(refusal) ?? JSON.stringify(part);
    })
    .join("");
}

export function messageHash(item: JsonObject): string {
  return hashText(messageText(item));
}

export function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  return arrayOf(output)
    .map((part) => (isObject(part) ? (stringOf(part["text"]) ?? `[${String(part["type"])}]`) : ""))
    .join("");
}

/** A string is short for one text; an image counts with its bytes. */
function outputMeaning(output: unknown): string {
  if (typeof output === "string") return output;
  return arrayOf(output)
    .map((part) => stringOf(objectOf(part)["text"]) ?? JSON.stringify(part))
    .join("");
}

/**
 * The chain before each item and after the last one: `chain[i]` covers items 0..i-1. Reasoning itself does not count:
 * the guide mentions messages that were edited, shortened or inserted.
 */
export function prefixChain(head: string, items: readonly JsonObject[]): readonly string[] {
  let link = hashText(head);
  const chain = [link];
  for (const item of items) {
    link = nextLink(link, item);
    chain.push(link);
  }
  return chain;
}

export function nextLink(link: string, item: JsonObject): string {
  const type = typeOfItem(item);
  if (type === "reasoning") return link;
  return createHash("sha256").update(link).update(meaningOf(item, type)).digest("base64url").slice(0, 22);
}

function meaningOf(item: JsonObject, type: string): string {
  switch (type) {
    case "message":
      return JSON.stringify(["message", item["role"], messageText(item)]);
    case "function_call":
      return JSON.stringify([type, item["call_id"], item["name"], item["arguments"]]);
    case "custom_tool_call":
      return JSON.stringify([type, item["call_id"], item["name"], item["input"]]);
    case "function_call_output":
    case "custom_tool_call_output":
      return JSON.stringify([type, item["call_id"], outputMeaning(item["output"])]);
    case "compaction":
      return JSON.stringify([type]);
    default:
      return JSON.stringify([type, stringOf(item["id"]) ?? null]);
  }
}
