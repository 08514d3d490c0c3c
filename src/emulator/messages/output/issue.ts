/**
 * Turns drafts into content blocks: signatures that contain what they are bound to, tool ids that prove their response.
 * One draft may become two blocks (a hosted search and its result).
 */

import {
  arrayOf,
  assertNever,
  isObject,
  type JsonObject,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import type { Draft } from "../../output/draft.ts";
import { hashText, type Seal, type SealedThinking } from "../../seal.ts";
import { isThinking, nextLink } from "../judge/context.ts";
import { signatureOf, type ThinkingPayload, toolId } from "../signature.ts";
import { resultBlock } from "./server-results.ts";

export interface IssuedBlock {
  readonly index: number;
  /** As the client has it in the end. */
  readonly final: JsonObject;
  /** The arguments of a call as they are streamed. */
  readonly inputText: string | undefined;
  readonly citations: readonly JsonObject[];
  readonly callId: string | undefined;
  readonly sealed: ThinkingPayload | undefined;
  /** The chain before and after it. */
  readonly linkBefore: string;
  readonly linkAfter: string;
}

export interface IssueOptions {
  readonly drafts: readonly Draft[];
  readonly seal: Seal;
  readonly uid: string;
  readonly at: number;
  readonly model: string;
  readonly account: string;
  /** `display: "omitted"`: the text of thinking is empty (C12). */
  readonly omitted: boolean;
  readonly head: { readonly system: string; readonly tools: string };
  /** The chain after the request, the role that spoke last, and its last usable thinking. */
  readonly link: string;
  readonly lastRole: string;
  readonly previous: string | null;
}

interface Plain {
  readonly block: JsonObject;
  readonly inputText?: string;
  readonly citations?: readonly JsonObject[];
  readonly notes?: string;
}

export function issueBlocks(options: IssueOptions): readonly IssuedBlock[] {
  const plain = toPlain(options);
  const hops = hopsOf(plain);
  let link = options.link;
  let role = options.lastRole;
  let previous = options.previous;
  return plain.map((one, index): IssuedBlock => {
    const linkBefore = link;
    const common = { index, inputText: one.inputText, citations: one.citations ?? [], linkBefore };
    const type = String(one.block["type"]);
    if (isThinking(type)) {
      const hop = hops[index] ?? 0;
      const all = plain.flatMap(({ block }, at) =>
        isThinking(String(block["type"])) && hops[at] === hop ? [at] : [],
      );
      const sealed = toSealed(one, { index, all, hop, link, previous }, options);
      previous = sealed.id;
      const proof = signatureOf(options.seal, sealed, options.at);
      const final =
        type === "thinking" ? { ...one.block, signature: proof } : { type: "redacted_thinking", data: proof };
      return { ...common, final, callId: undefined, sealed, linkAfter: link };
    }
    link = nextLink(link, { block: one.block, turns: role !== "assistant", role: "assistant" });
    role = "assistant";
    const callId = type === "tool_use" ? stringOf(one.block["id"]) : undefined;
    return { ...common, final: one.block, callId, sealed: undefined, linkAfter: link };
  });
}

/** For each block, the number of `fallback` blocks before it. */
function hopsOf(plain: readonly Plain[]): readonly number[] {
  let hop = 0;
  return plain.map(({ block }) => {
    if (block["type"] === "fallback") hop += 1;
    return hop;
  });
}

function toSealed(
  one: Plain,
  position: {
    readonly index: number;
    readonly all: readonly number[];
    readonly hop: number;
    readonly link: string;
    readonly previous: string | null;
  },
  options: IssueOptions,
): ThinkingPayload {
  const kind: SealedThinking["kind"] = one.block["type"] === "thinking" ? "thinking" : "redacted_thinking";
  return {
    stage: "done",
    id: `${kind}_${options.uid}_${position.index}`,
    uid: options.uid,
    index: position.index,
    model: options.model,
    account: options.account,
    prefix: position.link,
    follower: null,
    notes: one.notes ?? "",
    thinking: {
      kind,
      text: hashText(stringOf(one.block["thinking"]) ?? ""),
      all: position.all,
      ...(position.hop === 0 ? {} : { hop: position.hop }),
      ...options.head,
      previous: position.previous,
    },
  };
}

function toPlain(options: IssueOptions): readonly Plain[] {
  const { drafts, seal, uid, at } = options;
  const beganThinking = drafts[0]?.type === "reasoning";
  const plain: Plain[] = [];
  for (const draft of drafts) {
    const address = { uid, at, index: plain.length };
    const id = (prefix: string): string => toolId(seal, address, { beganThinking, prefix });
    plain.push(...blocksOf(draft, id, options.omitted));
  }
  return plain;
}

function blocksOf(draft: Draft, id: (prefix: string) => string, omitted: boolean): readonly Plain[] {
  switch (draft.type) {
    case "reasoning":
      return [thinkingBlock(draft, omitted)];
    case "message":
      return [textBlock(draft)];
    case "function_call": {
      const parsed = tryParseJson(draft.arguments);
      const input = isObject(parsed) ? parsed : {};
      const block = { type: "tool_use", id: draft.callId ?? id("toolu"), name: draft.name, input };
      // A tool without arguments: one empty delta and nothing more (recorded: anthropic-tool-no-args).
      return [{ block, inputText: draft.arguments === "{}" ? "" : draft.arguments }];
    }
    case "custom_tool_call": {
      const input = { input: draft.input };
      const block = { type: "tool_use", id: draft.callId ?? id("toolu"), name: draft.name, input };
      return [{ block, inputText: JSON.stringify(input) }];
    }
    case "web_search_call":
      return searchBlocks(draft.action, id("srvtoolu"));
    case "raw":
      return [rawBlock(draft.item, id)];
    default:
      return assertNever(draft, "draft");
  }
}

function thinkingBlock(draft: Extract<Draft, { type: "reasoning" }>, omitted: boolean): Plain {
  const notes = draft.notes === undefined ? {} : { notes: draft.notes };
  if (draft.redacted === true) return { block: { type: "redacted_thinking", data: "" }, ...notes };
  const text = draft.text ?? draft.summary.join("\n\n");
  const thinking = omitted || draft.hidden === true ? "" : text;
  return { block: { type: "thinking", thinking, signature: "" }, ...notes };
}

function textBlock({ text, annotations }: Extract<Draft, { type: "message" }>): Plain {
  const citations = (annotations ?? []).map((one) => ({
    type: "web_search_result_location",
    url: one["url"],
    title: one["title"] ?? null,
    encrypted_index: "Eo8BCioIAhgBIiQ",
    cited_text: "An emulated page.",
  }));
  const block = { type: "text", text };
  return citations.length === 0 ? { block } : { block: { ...block, citations }, citations };
}

function searchBlocks(action: JsonObject, id: string): readonly Plain[] {
  const input = { query: stringOf(action["query"]) ?? "" };
  const call = { type: "server_tool_use", id, name: "web_search", input };
  return [{ block: call, inputText: JSON.stringify(input) }, { block: resultBlock(call) }];
}

const idPrefixes: Readonly<Record<string, string>> = {
  mcp_tool_use: "mcptoolu",
  server_tool_use: "srvtoolu",
  tool_use: "toolu",
};

/** Sent as written and streamed as the API streams its kind; a call without an id gets one. */
function rawBlock(item: JsonObject, id: (prefix: string) => string): Plain {
  const prefix = idPrefixes[String(item["type"])];
  if (prefix === undefined) return { block: item, citations: arrayOf(item["citations"]).filter(isObject) };
  const input = JSON.stringify(item["input"] ?? {});
  return {
    block: { ...item, id: stringOf(item["id"]) ?? id(prefix) },
    inputText: input === "{}" ? "" : input,
  };
}
