/**
 * A Responses request up to the verdict: JSON, parameters, each item on its own, the history; and what the issued
 * record knows about it.
 */

import { isObject, type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import type { ApiRefusal } from "../api-refusal.ts";
import type { Engine } from "../engine.ts";
import type { IssuedReasoning, Standing } from "../issued-record.ts";
import { readsSealsOf } from "../model-traits.ts";
import { bodyOf } from "../request-body.ts";
import { conversationClues, cluePositions } from "./clues.ts";
import { type ContextItem, prefixChain } from "./judge/context.ts";
import { type HistoryAnswer, judgeHistory } from "./judge/history.ts";
import { checkItemShape } from "./judge/item-shape.ts";
import { malformedJson, previousNotFound, previousNotRetained } from "./judge/refusals.ts";
import { type ParsedRequest, parseRequest } from "./judge/request-shape.ts";

/** A request that passed everything up to the rules about its history. */
export interface Judged {
  readonly request: ParsedRequest;
  readonly account: string;
  readonly conversation: string;
  readonly context: readonly ContextItem[];
  readonly chain: readonly string[];
  readonly history: HistoryAnswer;
  /** All refusals a strict server could have returned, most important first. */
  readonly refusals: readonly ApiRefusal[];
}

export function readRequest(engine: Engine, text: string): ParsedRequest | ApiRefusal {
  const body = bodyOf(text);
  if (body === undefined) return malformedJson();
  const { strict } = engine;
  return parseRequest({
    body,
    text,
    strict,
    traitsOf: (model) => engine.traitsOf(model, "openai-responses"),
  });
}

export function judgeRequest(
  engine: Engine,
  request: ParsedRequest,
  options: { readonly account: string; readonly conversationHeader: string | undefined },
): Judged | ApiRefusal {
  const { switches, seal, store } = engine;
  const { account } = options;
  const refusals: ApiRefusal[] = [...request.tolerated];
  for (const [index, { item }] of request.input.entries()) {
    const wrong = checkItemShape(item, index, { switches, isOurs: (id) => seal.readId(id) !== undefined });
    if (wrong !== undefined) refusals.push(wrong);
  }
  const before = previousItems(engine, request, account);
  if ("rule" in before) return before;
  const own = store.resolve(request.input, {
    account,
    seal,
    store: request.store,
    retained: !switches.zeroDataRetention,
  });
  if ("rule" in own) return refusals[0] ?? own;
  const context = [...before, ...own];
  const head = switches.prefixCovers === "input" ? "" : request.head;
  const chain = prefixChain(
    head,
    context.map(({ item }) => item),
  );
  const history = judgeHistory({
    context,
    chain,
    model: request.model,
    traits: request.traits,
    account,
    store: request.store && !switches.zeroDataRetention,
    switches,
    seal,
  });
  const conversation = engine.issued.conversationOf(
    options.conversationHeader ?? stringOf(request.body["prompt_cache_key"]),
    conversationClues(context),
  );
  return {
    request,
    account,
    conversation,
    context,
    chain,
    history,
    refusals: [...refusals, ...history.refusals],
  };
}

function previousItems(
  engine: Engine,
  request: ParsedRequest,
  account: string,
): readonly ContextItem[] | ApiRefusal {
  const id = stringOf(request.body["previous_response_id"]);
  if (id === undefined) return [];
  if (engine.switches.zeroDataRetention) return previousNotRetained();
  return engine.store.chain(id, account, engine.seal) ?? previousNotFound(id);
}

/** The reasoning that could have come back in this request. */
export function standingOf(engine: Engine, judged: Judged): Standing {
  return engine.issued.standing({
    conversation: judged.conversation,
    dialect: "openai-responses",
    positions: cluePositions(judged.context),
    epoch: engine.seal.epoch,
    fits: fitsHere(engine, judged),
  });
}

/** Whether the judge would accept this reasoning in this request, at its position. */
function fitsHere(
  engine: Engine,
  judged: Judged,
): (one: IssuedReasoning, positions: readonly number[]) => boolean {
  const { request, account, chain } = judged;
  const { modelBinding, prefixBinding } = engine.switches;
  const bound = prefixBinding === "model" ? request.traits.prefixBound : prefixBinding !== "off";
  return ({ sealed, followerAt }, positions) => {
    if (sealed === undefined || sealed.follower === null || positions.length === 0) return false;
    if (!request.traits.reasoning || sealed.account !== account) return false;
    if (!readsSealsOf(request.model, sealed.model, modelBinding)) return false;
    return !bound || sealed.prefix === chain[positions[followerAt] ?? 0];
  };
}

export function formatOf(body: JsonObject): JsonObject {
  const format = objectOf(body["text"])["format"];
  return isObject(format) ? format : { type: "text" };
}
