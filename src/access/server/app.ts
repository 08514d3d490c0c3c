/** The routes. All are behind the gate (gate.ts); only login works without a token. */

import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";

import { codedError, ThroughlineError } from "../../base/support/index.ts";
import { answerEarly } from "./answer-early.ts";
import type { App, Bindings, RouteContext, ServerParts } from "./context.ts";
import { hasCookie, LOGIN_API_PATH, LOGIN_PATH, TOO_MANY_WRONG_KEYS } from "./gate.ts";
import { errorAnswer } from "./http-errors.ts";
import { LOGGED_IN, LOGIN_NEEDED, NO_PAGE, type PageFile, TRY_THE_PAGE } from "./page.ts";
import { assertQueryNames } from "./query-names.ts";
import { readBody, required } from "./read-body.ts";
import { addRequestRoutes } from "./request-routes.ts";
import { addSessionRoutes } from "./session-routes.ts";
import { addTurnRoutes } from "./turn-routes.ts";

export function createApp(parts: ServerParts, onProblem: (error: unknown) => void): App {
  const app: App = new Hono<{ Bindings: Bindings }>();
  app.onError((error, c) => {
    const { status, body } = errorAnswer(error);
    if (status >= 500 && !(error instanceof ThroughlineError && error.code === "server_stopping"))
      onProblem(error);
    const { incoming, outgoing } = c.env;
    if (incoming.complete) return c.json(body, status as 500);
    const headers = { "content-type": "application/json" };
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
    (await readBody(c.env.incoming)).done();
    return c.json({ link: parts.newLink() }, 201);
  });
  addLogin(app, parts);
  addSessionRoutes(app, parts);
  addTurnRoutes(app, parts);
  addRequestRoutes(app, parts);
  addPage(app, parts);
  return app;
}

function addLogin(app: App, { keys, cookieName, wrongKeys, limits }: ServerParts): void {
  app.get(LOGIN_PATH, (c) => {
    const code = c.req.query("code") ?? "";
    if (keys.redeem(code)) {
      c.header("set-cookie", `${cookieName}=${keys.cookieValue}; Path=/; HttpOnly; SameSite=Strict`);
      return c.html(LOGGED_IN);
    }
    // The link was opened again in a browser that already has access. Nothing new is granted.
    if (hasCookie(c.env.incoming, keys, cookieName)) return c.html(LOGGED_IN);
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
    if (keys.redeem(code)) return c.json({ token: keys.token });
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
