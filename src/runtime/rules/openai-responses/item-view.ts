/** The outline of an input item that the rules see, made from its text without parsing payloads. */

import { type Member, sliceArray, sliceMember, sliceObject } from "../../../base/support/index.ts";
import { textOf } from "../outline.ts";
import type { PieceContext } from "../rule-set.ts";
import type { Rule } from "../rule.ts";
import { isCallType, isOutputType } from "./call-types.ts";
import type { ResponsesFacts } from "./facts.ts";

export type ResponsesRule = Rule<ItemView, ResponsesFacts>;

/** What the text of an item says. */
export interface ItemOutline {
  readonly type: string;
  readonly id: string | undefined;
  readonly callId: string | undefined;
  /** The name of the called tool; some outputs carry it too. */
  readonly name: string | undefined;
  readonly role: string | undefined;
  readonly payload: "present" | "null" | "empty" | "absent";
  readonly summary: "array" | "missing" | "wrong";
  readonly hasContent: boolean;
  /** Types of the parts of `content`; undefined when it is a string or absent. */
  readonly contentTypes: readonly string[] | undefined;
  readonly hasOutput: boolean;
  readonly hasStatus: boolean;
}

export interface ItemView extends ItemOutline {
  readonly index: number;
  /** The response it came from, known only for our own requests, not for foreign histories. */
  readonly group: string | undefined;
  /** Made by another origin than the one the request goes to. */
  readonly foreign: boolean;
  /** Run by the provider, so the request need not answer it. */
  readonly hosted: boolean;
  /** Its server repeats ids within a response, and accepts them back. */
  readonly idsRepeat: boolean;
}

/** `outline` is that of the text, from a caller that has already looked at it. */
export function viewItem(
  text: string,
  index: number,
  context: PieceContext = {},
  outline: ItemOutline = outlineOf(sliceObject(text)),
): ItemView {
  // By name: a spread costs several times as much.
  return {
    index,
    type: outline.type,
    id: outline.id,
    callId: outline.callId,
    name: outline.name,
    role: outline.role,
    payload: outline.payload,
    summary: outline.summary,
    hasContent: outline.hasContent,
    contentTypes: outline.contentTypes,
    hasOutput: outline.hasOutput,
    hasStatus: outline.hasStatus,
    group: context.group,
    foreign: context.foreign ?? false,
    hosted: context.hosted ?? false,
    idsRepeat: context.idsRepeat ?? false,
  };
}

/** The outline of an item from the members of its text. */
export function outlineOf(members: readonly Member[]): ItemOutline {
  // Of duplicate keys the last one counts, as in JSON.parse.
  const values = new Map(members.map(({ key, value }) => [key, value]));
  const role = textOf(values.get("role"));
  const summary = values.get("summary");
  const content = values.get("content");
  return {
    type: textOf(values.get("type")) ?? (role === undefined ? "unknown" : "message"),
    id: textOf(values.get("id")),
    callId: textOf(values.get("call_id")),
    name: textOf(values.get("name")),
    role,
    payload: payloadState(values.get("encrypted_content")),
    summary: summary === undefined ? "missing" : summary.startsWith("[") ? "array" : "wrong",
    hasContent: content !== undefined,
    contentTypes: partTypes(content),
    hasOutput: values.has("output"),
    hasStatus: values.has("status"),
  };
}

function payloadState(value: string | undefined): ItemView["payload"] {
  if (value === undefined) return "absent";
  if (value === "null") return "null";
  return value === '""' ? "empty" : "present";
}

function partTypes(content: string | undefined): readonly string[] | undefined {
  if (content?.startsWith("[") !== true) return undefined;
  return sliceArray(content).map((part) => textOf(sliceMember(part, "type")) ?? "unknown");
}

export function isCall(item: ItemView): boolean {
  return isCallType(item.type);
}

export function isOutput(item: ItemView): boolean {
  return isOutputType(item.type);
}

const REFERRED = { call: /^(?:fc|ctc)_/, output: /^(?:fco|ctco)_/ } as const;
const KNOWN_PREFIX = /^(?:rs|msg|amsg|fc|fco|ctc|ctco|ws|fs|ci|ig|mcp|mcpl|mcpr|cmp|tsc|cm)_/;

/** Whether an item may be a reference to an item of this kind, which its id shows unless the prefix is unknown. */
export function mayReferTo({ type, id = "" }: ItemView, kind: keyof typeof REFERRED): boolean {
  return type === "item_reference" && (REFERRED[kind].test(id) || !KNOWN_PREFIX.test(id));
}

/** Whether an item is a message to the model, from a user, a developer or the system. */
export function isInput(item: ItemView): boolean {
  return item.type === "message" && item.role !== undefined && item.role !== "assistant";
}
