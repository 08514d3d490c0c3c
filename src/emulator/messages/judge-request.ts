/**
 * A Messages request up to the verdict: headers, JSON, parameters, each block on its own, tool calls, thinking; and
 * what the issued record knows about it.
 */

import { arrayOf, isObject, objectOf, stringOf } from "../../base/support/index.ts";
import type { ApiRefusal } from "../api-refusal.ts";
import type { Headers } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import type { IssuedReasoning, Standing } from "../issued-record.ts";
import { bodyOf } from "../request-body.ts";
import { hashText } from "../seal.ts";
import type { Switches } from "../switches.ts";
import { conversationClues, cluePositions } from "./clues.ts";
import { checkMessages } from "./judge/block-shape.ts";
import { type Context, type LocatedBlock, meaningOf, stripped, toContext } from "./judge/context.ts";
import { parseMessages, type ParsedMessages } from "./judge/request-shape.ts";
import { judgeServerTools } from "./judge/server-tools.ts";
import {
  foreignReason,
  judgeThinking,
  prefixChange,
  type ThinkingAnswer,
  type ThinkingQuestion,
} from "./judge/thinking-rules.ts";
import { checkTools, joined, type JoinedMessage } from "./judge/tool-rules.ts";
import { ownTypesOf } from "./own-types.ts";
import {
  malformedJson,
  prefillRefused,
  trailingWhitespace,
  versionRequired,
  versionUnknown,
} from "./refusals.ts";
import type { ThinkingPayload } from "./signature.ts";
import { isServerCall } from "./vocabulary.ts";

export interface JudgedMessages {
  readonly request: ParsedMessages;
  readonly account: string;
  readonly conversation: string;
  readonly context: Context;
  readonly head: ThinkingQuestion["head"];
  readonly history: ThinkingAnswer;
  /** The thinking that the model may use: none while thinking is off. */
  readonly usable: ReadonlyMap<number, ThinkingPayload>;
  /** Server tool calls that wait for their result, which the answer will contain. */
  readonly pending: readonly LocatedBlock[];
  readonly refusals: readonly ApiRefusal[];
}

export function readMessages(
  engine: Engine,
  call: { readonly text: string; readonly headers: Headers; readonly account: string },
  counting = false,
): ParsedMessages | ApiRefusal {
  const version = call.headers["anthropic-version"];
  if (version === undefined) return versionRequired();
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) return versionUnknown(version);
  const body = bodyOf(call.text);
  if (body === undefined) return malformedJson();
  const betas = betasOf(call.headers);
  const { account } = call;
  const text = isObject(body)
    ? engine.threads.whole(call.text, body, { account, betas, switches: engine.switches })
    : call.text;
  if (typeof text !== "string") return text;
  return parseMessages({
    body: text === call.text ? body : bodyOf(text),
    text,
    betas,
    counting,
    traitsOf: (model) => engine.traitsOf(model, "anthropic-messages"),
  });
}

function betasOf(headers: Headers): readonly string[] {
  const betas = (headers["anthropic-beta"] ?? "").split(",").map((one) => one.trim());
  return betas.filter((one) => one !== "");
}

export function judgeMessages(
  engine: Engine,
  request: ParsedMessages,
  options: { readonly account: string; readonly conversationHeader: string | undefined },
): JudgedMessages {
  const { switches, seal } = engine;
  const context = toContext(request.messages, request.messagesText);
  const messages = joined(context.blocks);
  const head = headOf(request);
  const server = judgeServerTools(messages, { body: request.body, switches });
  const { model, traits, claude, thinking } = request;
  const history = judgeThinking({
    context,
    messages,
    model,
    traits,
    claude,
    thinking,
    head,
    switches,
    seal,
    account: options.account,
  });
  return {
    request,
    account: options.account,
    conversation: engine.issued.conversationOf(
      options.conversationHeader,
      conversationClues(context, history.usable, seal),
    ),
    context,
    head,
    history,
    usable: thinking.on ? history.usable : new Map(),
    pending: server.pending,
    refusals: [
      ...checkMessages(request.messages, { switches, ownTypes: ownTypesOf(engine) }),
      ...checkTools(messages),
      ...server.refusals,
      ...checkEnd(messages, claude.prefill ? switches.prefill : "refuse"),
      ...history.refusals,
    ],
  };
}

/** Compared by meaning: a string is short for one text block, and cache breakpoints do not count. */
function headOf({ body, tools }: ParsedMessages): JudgedMessages["head"] {
  const { system } = body;
  const blocks =
    typeof system === "string" ? [{ type: "text", text: system }] : arrayOf(system).map(objectOf);
  return {
    system: hashText(JSON.stringify(blocks.map(meaningOf))),
    tools: hashText(JSON.stringify(stripped(tools))),
  };
}

/** C08; a turn paused by a server tool or a compaction may continue from its own text. */
function* checkEnd(messages: readonly JoinedMessage[], prefill: Switches["prefill"]): Generator<ApiRefusal> {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return;
  if (last.blocks.some(({ type }) => isServerCall(type) || type === "compaction")) return;
  if (prefill === "refuse") yield prefillRefused();
  else if (/\s$/.test(stringOf(last.blocks.at(-1)?.block["text"]) ?? "")) yield trailingWhitespace();
}

export function standingOf(engine: Engine, judged: JudgedMessages): Standing {
  return engine.issued.standing({
    conversation: judged.conversation,
    dialect: "anthropic-messages",
    positions: cluePositions(judged.context),
    epoch: engine.seal.epoch,
    fits: fitsHere(engine, judged),
  });
}

/** Whether the judge would accept this thinking in this request, at its position. */
function fitsHere(
  engine: Engine,
  judged: JudgedMessages,
): (one: IssuedReasoning, positions: readonly number[]) => boolean {
  const { request, account, context, head } = judged;
  const { switches } = engine;
  const { prefixBinding } = switches;
  const bound = prefixBinding === "refuse" || (prefixBinding === "model" && request.traits.prefixBound);
  return ({ sealed, followerAt }, positions) => {
    const thinking = sealed?.thinking;
    const follower = positions[followerAt];
    if (sealed === undefined || thinking === undefined || follower === undefined) return false;
    if (!request.thinking.on) return false;
    if (foreignReason(sealed, { ...request, account, switches }) !== undefined) return false;
    if (!bound) return true;
    const payload = { ...sealed, thinking };
    return prefixChange(payload, follower, thinking.previous, { context, head, switches }) === undefined;
  };
}
