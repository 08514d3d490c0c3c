/** The routes. All are behind the gate (gate.ts); only login and the two probes work without a token. */

import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";

import { codedError } from "../../base/support/index.ts";
import { RIGHTS } from "../../runtime/log/index.ts";
import { answerEarly } from "./answer-early.ts";
import {
  type App,
  assertMay,
  type Bindings,
  hostedOf,
  hostOf,
  type RouteContext,
  type ServerParts,
  storeOf,
} from "./context.ts";
import {
  hasCookie,
  HEALTH_PATH,
  LOGIN_API_PATH,
  LOGIN_PATH,
  READY_PATH,
  TOO_MANY_WRONG_KEYS,
} from "./gate.ts";
import type { HostedSession } from "./hosted-session.ts";
import { errorAnswer, isPassing, RETRY_SECONDS } from "./http-errors.ts";
import { addMcpRoutes } from "./mcp-routes.ts";
import { METRICS_TYPE, metricsText } from "./metrics-text.ts";
import { LOGGED_IN, LOGIN_NEEDED, NO_PAGE, type PageFile, TRY_THE_PAGE } from "./page.ts";
import { assertQueryNames } from "./query-names.ts";
import { readBody, required } from "./read-body.ts";
import { addRequestRoutes } from "./request-routes.ts";
import { addSessionRoutes } from "./session-routes.ts";
import { assertRoomForTurn } from "./tenant-limits.ts";
import { addTurnRoutes } from "./turn-routes.ts";

export function createApp(parts: ServerParts, onProblem: (error: unknown) => void): App {
  const app: App = new Hono<{ Bindings: Bindings }>();
  app.onError((error, c) => {
    const { status, body } = errorAnswer(error);
    if (status >= 500 && !isPassing(body.error.code)) onProblem(error);
    const { incoming, outgoing } = c.env;
    const later = status === 503 ? { "retry-after": RETRY_SECONDS } : {};
    if (incoming.complete) return c.json(body, status as 500, later);
    const headers = { "content-type": "application/json", ...later };
    answerEarly(incoming, outgoing, { status, headers, text: JSON.stringify(body) }, parts.limits);
    return RESPONSE_ALREADY_SENT;
  });
  app.notFound((c) =>
    c.json(errorAnswer(codedError("not_found", "there is nothing at this address")).body, 404),
  );

  app.use("/api/*", async (c, next) => {
    assertQueryNames(c.req.path, Object.keys(c.req.query()));
    await next();
  });
  app.get("/api/server", (c) => c.json(parts.info()));
  app.post("/api/links", async (c) => {
    const grant = assertMay(parts, c, "admin");
    const body = await readBody(c.env.incoming);
    const may = body.choice("may", RIGHTS) ?? grant.may;
    body.done();
    return c.json({ link: await parts.newLink({ ...grant, may }) }, 201);
  });
  addProbes(app, parts);
  for (const name of ["turns", "retry", "edit", "resume"])
    app.use(`/api/sessions/:id/${name}`, async (c, next) => {
      const hosted = (): Promise<HostedSession> => hostedOf(parts, c);
      if (c.req.method === "POST")
        await assertRoomForTurn(parts.limits, hostOf(parts, c), storeOf(parts, c), hosted);
      await next();
    });
  addLogin(app, parts);
  addSessionRoutes(app, parts);
  addTurnRoutes(app, parts);
  addRequestRoutes(app, parts);
  addMcpRoutes(app, parts);
  addPage(app, parts);
  return app;
}

/** For balancers and monitoring. The first two show nothing, so anybody may ask. */
function addProbes(app: App, parts: ServerParts): void {
  app.get(HEALTH_PATH, (c) => c.json({ ok: true }));
  app.get(READY_PATH, async (c) => {
    const why = await parts.readiness.ask();
    return why === undefined ? c.json({ ok: true }) : c.json({ ok: false, why }, 503);
  });
  app.get("/metrics", async (c) => {
    const { tenant } = assertMay(parts, c, "admin");
    // They count the whole store, so they are not for a tenant among others.
    if (tenant !== parts.keys.owner.tenant)
      throw codedError(
        "right_missing",
        "this needs the server's own token: the figures are those of all tenants",
      );
    return c.body(metricsText(await parts.metrics()), 200, { "content-type": METRICS_TYPE });
  });
}

function addLogin(app: App, { keys, cookieName, cookieRules, wrongKeys, limits }: ServerParts): void {
  app.get(LOGIN_PATH, async (c) => {
    const cookie = await keys.redeem(c.req.query("code") ?? "", "browser");
    if (cookie !== undefined) {
      c.header("set-cookie", `${cookieName}=${cookie}; ${cookieRules}`);
      return c.html(LOGGED_IN);
    }
    // The link was opened again in a browser that already has access. Nothing new is granted.
    if (await hasCookie(c.env.incoming, keys, cookieName)) return c.html(LOGGED_IN);
    const wait = wrongKeys.add();
    if (wait !== undefined) return tooMany(c, wait);
    // A browser withholds its cookie when the link is clicked on a foreign page, but sends it when our own page
    // navigates.
    return c.html(c.req.header("sec-fetch-site") === "cross-site" ? TRY_THE_PAGE : LOGIN_NEEDED, 401);
  });
  app.post(LOGIN_API_PATH, async (c) => {
    const body = await readBody(c.env.incoming, limits.strangerBytes);
    const code = required("code", body.text("code"));
    body.done();
    const token = await keys.redeem(code, "login");
    if (token !== undefined) return c.json({ token });
    const wait = wrongKeys.add();
    if (wait !== undefined) return tooMany(c, wait);
    throw codedError("code_used", "this link was already used, or is from another server");
  });
}

function tooMany(c: RouteContext, wait: number): Response {
  const { code, message } = TOO_MANY_WRONG_KEYS;
  return c.json({ error: { code, message } }, 429, { "retry-after": String(wait) });
}

function addPage(app: App, { page }: ServerParts): void {
  const index = page.get("/index.html");
  const start = (c: RouteContext): Response => (index === undefined ? c.html(NO_PAGE, 404) : send(c, index));
  app.get("/", start);
  app.get("/s/:id", start); // the page reads the address itself
  for (const [address, file] of page) app.get(address, (c) => send(c, file));
}

function send(c: RouteContext, { bytes, type, immutable }: PageFile): Response {
  return c.body(bytes, 200, {
    "content-type": type,
    ...(immutable ? { "cache-control": "private, max-age=31536000, immutable" } : {}),
  });
}
