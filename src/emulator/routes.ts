/**
 * The routes beside `POST /v1/responses`: models, report, stored responses, token counting, compaction.
 *
 * @module
 */

import type { JsonObject } from "../support/index.ts";
import { compact } from "./compaction.ts";
import { refused, type WireAnswer } from "./create-response.ts";
import { type Engine, readRequest } from "./engine.ts";
import { refuse } from "./judge/refusal.ts";
import { documentedModels } from "./model-traits.ts";
import { tokensIn } from "./output/usage.ts";
import { type RequestReport, toReport } from "./report.ts";
import type { StoredResponse } from "./store.ts";

export interface RouteRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly reports: readonly RequestReport[];
}

type Handler = (engine: Engine, request: RouteRequest, account: string, id: string) => WireAnswer;

const routes: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
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

export function answerRoute(engine: Engine, request: RouteRequest): WireAnswer {
  const { method, url } = request;
  const path = url.pathname.replace(/^\/v1(?=\/)/, "");
  if (path === "/__emulator/report" && method === "GET")
    return found(toReport(engine.options.mode, request.reports));
  const account = engine.account(request.headers);
  if ("rule" in account) return refused(account, undefined);
  const known = routes.filter(([, pattern]) => pattern.test(path));
  const route = known.find(([verb]) => verb === method);
  if (route !== undefined) {
    const id = decodeId(route[1].exec(path)?.[1]);
    return route[2](engine, request, account.organisation, id);
  }
  const [status, message] =
    known.length > 0 || path === "/responses"
      ? [
          405,
          `Not allowed to ${method} on ${url.pathname}. (HINT: Perhaps you meant to use a different HTTP method?)`,
        ]
      : [404, `Invalid URL (${method} ${url.pathname})`];
  return refused(refuse({ rule: "X-route", status, message }), undefined);
}

function decodeId(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return text ?? "";
  }
}

function found(json: unknown): WireAnswer {
  return { status: 200, json, report: undefined };
}

function modelObject(id: string): unknown {
  return { id, object: "model", created: 1_700_000_000, owned_by: "throughline-emulator" };
}

function getModel(engine: Engine, _request: RouteRequest, _account: string, id: string): WireAnswer {
  if (engine.traitsOf(id) !== undefined) return found(modelObject(id));
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

/** A background response is finished when somebody looks: no clock decides what a test sees. */
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
