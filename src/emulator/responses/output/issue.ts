/**
 * Turns drafts into items: ids that encode what they need, ciphertext in three different forms (E08), call ids.
 * Everything is decided before the first byte is sent, because a reasoning item's ciphertext names its follower.
 */

import { assertNever, type JsonObject, stringOf } from "../../../base/support/index.ts";
import type { Draft } from "../../output/draft.ts";
import { type Follower, type ItemAddress, type Seal, type Sealed } from "../../seal.ts";
import type { Switches } from "../../switches.ts";
import { messageHash, nextLink } from "../judge/context.ts";

type Stage = "added" | "done" | "completed";

export interface IssuedItem {
  readonly draft: Draft;
  readonly index: number;
  readonly type: string;
  readonly id: string;
  readonly callId: string | undefined;
  /** The sealed content; only reasoning has it. */
  readonly sealed: Sealed | undefined;
  /** The item as the client sees it at this stage. Ciphertext differs at every call, as on the real wire. */
  view(stage: Stage): JsonObject;
}

export interface IssueOptions {
  readonly drafts: readonly Draft[];
  readonly seal: Seal;
  readonly uid: string;
  readonly at: number;
  readonly model: string;
  readonly account: string;
  readonly switches: Switches;
  /** The chain link after the request's own items (H06). */
  readonly prefix: string;
  readonly withCiphertext: boolean;
}

export function issueItems(options: IssueOptions): readonly IssuedItem[] {
  const { drafts, seal } = options;
  const base = drafts.map((draft, index) => {
    const address: ItemAddress = { uid: options.uid, at: options.at, index };
    const type = draft.type === "raw" ? (stringOf(draft.item["type"]) ?? "unknown") : draft.type;
    const needs = draft.type === "reasoning" ? [] : reasoningBefore(drafts, index);
    const given = draft.type === "raw" ? stringOf(draft.item["id"]) : undefined;
    const id = given ?? seal.itemId(address, type, needs);
    if (draft.type === "raw") {
      seal.adopt(id, { ...address, type, needs, fingerprint: stringOf(draft.item["fingerprint"]) });
    }
    return { draft, index, type, id, callId: callIdOf(draft, address, seal) };
  });
  const items: IssuedItem[] = [];
  let link = options.prefix;
  for (const one of base) {
    const sealed = one.draft.type === "reasoning" ? toSealed(one, base, link, options) : undefined;
    const item: IssuedItem = { ...one, sealed, view: (stage) => viewOf({ ...one, sealed }, stage, options) };
    if (sealed === undefined) link = nextLink(link, item.view("completed"));
    items.push(item);
  }
  return items;
}

function callIdOf(draft: Draft, address: ItemAddress, seal: Seal): string | undefined {
  if (draft.type === "raw") return stringOf(draft.item["call_id"]);
  const isCall = draft.type === "function_call" || draft.type === "custom_tool_call";
  return isCall ? (draft.callId ?? seal.callId(address)) : undefined;
}

type Base = Omit<IssuedItem, "sealed" | "view">;

function reasoningBefore(drafts: readonly Draft[], index: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < index; at += 1) if (drafts[at]?.type === "reasoning") found.push(at);
  return found;
}

function toSealed(one: Base, all: readonly Base[], link: string, options: IssueOptions): Sealed {
  const next = all.find((other) => other.index > one.index && other.type !== "reasoning");
  return {
    stage: "done",
    id: one.id,
    uid: options.uid,
    index: one.index,
    model: options.model,
    account: options.account,
    prefix: link,
    follower: next === undefined ? null : toFollower(next),
    notes: one.draft.type === "reasoning" ? (one.draft.notes ?? "") : "",
  };
}

function toFollower(next: Base): Follower {
  return {
    index: next.index,
    type: next.type,
    callId: next.callId,
    ...(next.draft.type === "message" ? { text: messageHash({ content: next.draft.text }) } : {}),
  };
}

/** Key order as in the recordings. */
function viewOf(
  one: Base & { readonly sealed: Sealed | undefined },
  stage: Stage,
  options: IssueOptions,
): JsonObject {
  const { draft, id } = one;
  const open = stage === "added";
  const status = open ? "in_progress" : "completed";
  switch (draft.type) {
    case "reasoning":
      return reasoningView(one, draft, stage, options);
    case "message":
      return {
        id,
        type: "message",
        status,
        content: open ? [] : [messagePart(draft)],
        ...(draft.phase !== undefined && options.switches.phase ? { phase: draft.phase } : {}),
        role: "assistant",
      };
    case "function_call":
      return {
        id,
        type: "function_call",
        status,
        arguments: open ? "" : draft.arguments,
        call_id: one.callId,
        name: draft.name,
        ...(draft.namespace === undefined ? {} : { namespace: draft.namespace }),
      };
    case "custom_tool_call":
      return {
        id,
        type: "custom_tool_call",
        status,
        call_id: one.callId,
        input: open ? "" : draft.input,
        name: draft.name,
        ...(draft.namespace === undefined ? {} : { namespace: draft.namespace }),
      };
    case "web_search_call":
      return { id, type: "web_search_call", status, ...(open ? {} : { action: draft.action }) };
    case "raw":
      return { id, ...draft.item };
    default:
      return assertNever(draft, "draft");
  }
}

export function messagePart(draft: Extract<Draft, { type: "message" }>): JsonObject {
  return draft.refusal === true
    ? { type: "refusal", refusal: draft.text }
    : { type: "output_text", annotations: draft.annotations ?? [], logprobs: [], text: draft.text };
}

function reasoningView(
  one: Base & { readonly sealed: Sealed | undefined },
  draft: Extract<Draft, { type: "reasoning" }>,
  stage: Stage,
  options: IssueOptions,
): JsonObject {
  const open = stage === "added";
  const { switches, seal } = options;
  const sealed = one.sealed;
  const wanted = options.withCiphertext && draft.ciphertext === undefined && sealed !== undefined;
  const ciphertext = wanted ? seal.seal({ ...sealed, stage }, options.at) : draft.ciphertext;
  const text = switches.reasoningText && draft.text !== undefined ? draft.text : undefined;
  return {
    id: one.id,
    type: "reasoning",
    ...(switches.reasoningText ? { status: open ? "in_progress" : "completed" } : {}),
    ...(typeof ciphertext === "string" || ciphertext === null ? { encrypted_content: ciphertext } : {}),
    summary:
      open || switches.reasoningText
        ? []
        : draft.summary.map((part) => ({ type: "summary_text", text: part })),
    ...(switches.reasoningText
      ? { content: open || text === undefined ? [] : [{ type: "reasoning_text", text }] }
      : {}),
  };
}
