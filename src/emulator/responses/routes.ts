/**
 * The routes of the Responses dialect other than `POST /v1/responses`: models, stored responses, token counting,
 * compaction.
 */

import type { JsonObject } from "../../base/support/index.ts";
import { refuse } from "../api-refusal.ts";
import { found, refused, type Route, type RouteRequest, type WireAnswer } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { dialectNames, documentedModels } from "../model-traits.ts";
import { tokensIn } from "../output/usage.ts";
import { compact } from "./compaction.ts";
import { readRequest } from "./judge-request.ts";
import type { StoredResponse } from "./store.ts";

export const routes: readonly Route[] = [
  ["GET", /^\/models$/, () => found({ object: "list", data: documentedModels.map(modelObject) })],
  ["GET", /^\/models\/([^/]+)$/, getModel],
  ["POST", /^\/responses\/input_tokens$/, countTokens],
  ["POST", /^\/responses\/compact$/, (engine, request, account) => compact(engine, request, account)],
  [
    "GET",
    /^\/responses\/([^/]+)$/,
    (engine, _request, account, id) => withStored(engine, account, id, (one) => found(current(one))),
  ],
  ["DELETE", /^\/responses\/([^/]+)$/, deleteResponse],
  ["GET", /^\/responses\/([^/]+)\/input_items$/, listInputItems],
  ["POST", /^\/responses\/([^/]+)\/cancel$/, cancel],
];

function modelObject(id: string): unknown {
  return { id, object: "model", created: 1_700_000_000, owned_by: "throughline-emulator" };
}

function getModel(engine: Engine, _request: RouteRequest, _account: string, id: string): WireAnswer {
  if (dialectNames.some((name) => engine.traitsOf(id, name) !== undefined)) return found(modelObject(id));
  return refused(
    refuse({
      rule: "X-model",
      status: 404,
      message: `The model '${id}' does not exist`,
      param: "model",
      code: "model_not_found",
    }),
    undefined,
  );
}

function countTokens(engine: Engine, request: RouteRequest): WireAnswer {
  const parsed = readRequest(engine, request.text);
  if ("rule" in parsed) return refused(parsed, undefined);
  const tokens = parsed.input.reduce((total, { text }) => total + tokensIn(text), tokensIn(parsed.head));
  return found({ object: "response.input_tokens", input_tokens: tokens });
}

function withStored(
  engine: Engine,
  account: string,
  id: string,
  use: (stored: StoredResponse) => WireAnswer,
): WireAnswer {
  const stored = engine.store.get(id, account);
  if (stored !== undefined) return use(stored);
  return refused(
    refuse({ rule: "X-response", status: 404, message: `Response with id '${id}' not found.` }),
    undefined,
  );
}

/** A background response finishes when it is first read: no clock decides what a test sees. */
function current(stored: StoredResponse): JsonObject {
  if (stored.object["status"] === "queued" && stored.finish !== undefined) stored.object = stored.finish();
  return stored.object;
}

function deleteResponse(engine: Engine, _request: RouteRequest, account: string, id: string): WireAnswer {
  return withStored(engine, account, id, () => {
    engine.store.delete(id);
    return found({ id, object: "response", deleted: true });
  });
}

function listInputItems(engine: Engine, request: RouteRequest, account: string, id: string): WireAnswer {
  return withStored(engine, account, id, (stored) => {
    const query = request.url.searchParams;
    const all = query.get("order") === "asc" ? stored.inputItems : stored.inputItems.toReversed();
    const after = query.get("after");
    const from = after === null ? 0 : all.findIndex((item) => item["id"] === after) + 1;
    const limit = Math.min(100, Math.max(1, Number(query.get("limit") ?? 20) || 20));
    const data = all.slice(from, from + limit);
    return found({
      object: "list",
      data,
      first_id: data[0]?.["id"] ?? null,
      last_id: data.at(-1)?.["id"] ?? null,
      has_more: from + limit < all.length,
    });
  });
}

function cancel(engine: Engine, _request: RouteRequest, account: string, id: string): WireAnswer {
  return withStored(engine, account, id, (stored) => {
    if (stored.finish === undefined) {
      return refused(
        refuse({ rule: "X-cancel", message: "Cannot cancel a synchronous response." }),
        undefined,
      );
    }
    if (stored.object["status"] === "queued") stored.object = { ...stored.object, status: "cancelled" };
    return found(stored.object);
  });
}
