/** The routes that do not make the model answer: models, the report, and each dialect's other routes. */

import { refuse } from "./api-refusal.ts";
import { type Dialect, found, refused, type RouteRequest, type WireAnswer } from "./dialect.ts";
import type { Engine } from "./engine.ts";
import { toReport } from "./report.ts";

export function answerRoute(engine: Engine, dialect: Dialect, request: RouteRequest): WireAnswer {
  const { method, url } = request;
  const path = pathOf(url);
  if (path === "/__emulator/report" && method === "GET")
    return found(toReport(engine.options.mode, request.reports));
  const account = dialect.account(engine, request.headers);
  if ("rule" in account) return refused(account, undefined);
  const known = dialect.routes.filter(([, pattern]) => pattern.test(path));
  const route = known.find(([verb]) => verb === method);
  if (route !== undefined) {
    const id = decodeId(route[1].exec(path)?.[1]);
    return route[2](engine, request, account.organisation, id);
  }
  const [status, message] =
    known.length > 0 || dialect.create.test(path)
      ? [
          405,
          `Not allowed to ${method} on ${url.pathname}. (HINT: Perhaps you meant to use a different HTTP method?)`,
        ]
      : [404, `Invalid URL (${method} ${url.pathname})`];
  return refused(refuse({ rule: "X-route", status, message }), undefined);
}

/** The path without `/v1`, which only some clients have in their base URL. */
export function pathOf(url: URL): string {
  return url.pathname.replace(/^\/v1(?=\/)/, "");
}

function decodeId(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return text ?? "";
  }
}
