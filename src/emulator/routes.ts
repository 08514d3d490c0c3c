/**
 * The smaller routes: models, report, stored responses, token counting, compaction.
 *
 * @module
 */

import { refused, type WireAnswer } from "./create-response.ts";
import type { Engine } from "./engine.ts";
import { refuse } from "./judge/refusal.ts";
import { documentedModels } from "./model-traits.ts";
import { type RequestReport, toReport } from "./report.ts";

export interface RouteRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly reports: readonly RequestReport[];
}

export function answerRoute(engine: Engine, request: RouteRequest): WireAnswer {
  const { method, url } = request;
  const path = url.pathname.replace(/^\/v1(?=\/)/, "");
  if (path === "/__emulator/report" && method === "GET") {
    return plain(toReport(engine.options.mode, request.reports));
  }
  if (path === "/models" && method === "GET") {
    return plain({ object: "list", data: documentedModels.map((id) => modelObject(id)) });
  }
  return refused(
    refuse({ rule: "X-route", status: 404, message: `Invalid URL (${method} ${url.pathname})` }),
    undefined,
  );
}

function plain(json: unknown): WireAnswer {
  return { status: 200, json, report: undefined };
}

function modelObject(id: string): unknown {
  return { id, object: "model", created: 1_700_000_000, owned_by: "throughline-emulator" };
}
