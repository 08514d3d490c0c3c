/** The routes of the Messages dialect other than `POST /v1/messages`: token counting and models. */

import { found, refused, type Route, type RouteRequest, type WireAnswer } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { documentedModelsOf } from "../model-traits.ts";
import { tokensIn } from "../output/usage.ts";
import { readMessages } from "./judge-request.ts";
import { checkMessages } from "./judge/block-shape.ts";
import { toContext } from "./judge/context.ts";
import { ownTypesOf } from "./own-types.ts";
import { unknownModel } from "./refusals.ts";

export const routes: readonly Route[] = [
  ["POST", /^\/messages\/count_tokens$/, countTokens],
  ["GET", /^\/models$/, listModels],
  ["GET", /^\/models\/([^/]+)$/, getModel],
];

function countTokens(engine: Engine, request: RouteRequest, account: string): WireAnswer {
  const parsed = readMessages(engine, { ...request, account }, true);
  if ("rule" in parsed) return refused(parsed, undefined);
  const rules = { switches: engine.switches, ownTypes: ownTypesOf(engine) };
  const [wrong] = checkMessages(parsed.messages, rules);
  if (wrong !== undefined && engine.strict) return refused(wrong, undefined);
  const { blocks } = toContext(parsed.messages, parsed.messagesText);
  const head = tokensIn(`${parsed.system}\n${parsed.toolsText}`);
  return found({ input_tokens: blocks.reduce((total, block) => total + tokensIn(block.text), head) });
}

function modelObject(id: string): unknown {
  return { type: "model", id, display_name: id, created_at: "2023-11-14T22:13:20Z" };
}

function listModels(): WireAnswer {
  const ids = documentedModelsOf("anthropic-messages");
  return found({
    data: ids.map(modelObject),
    has_more: false,
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
  });
}

function getModel(engine: Engine, _request: RouteRequest, _account: string, id: string): WireAnswer {
  return engine.traitsOf(id, "anthropic-messages") === undefined
    ? refused(unknownModel(id), undefined)
    : found(modelObject(id));
}
