/**
 * An authorization server and an MCP server that wants its tokens, on loopback. Each keeps to the rules of OAuth 2.1: PKCE
 * is checked, a code works once, and so does a refresh token. A test changes what they say. Closed after the test.
 *
 * @module
 */

import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";

import { afterTest } from "../../support/clean-up.ts";

type Answer = (request: Request, url: URL) => Response | undefined | Promise<Response | undefined>;

export interface Authorization {
  /** The address of the MCP server. */
  readonly mcp: string;
  readonly issuer: string;
  /** Every request so far, as `POST /token refresh_token`. */
  readonly requests: string[];
  /** Answers before the server itself would. */
  intercept: Answer | undefined;
  /** Replaces parts of the metadata; undefined removes one. */
  metadata: Record<string, unknown>;
  /** Replaces parts of what the MCP server says about itself. */
  resource: Record<string, unknown>;
  /** Replaces or removes parameters of the redirect. */
  redirect: Record<string, string | undefined>;
  /** Seconds until a new access token ends. */
  expiresIn: number | undefined;
  /** What the tool needs. */
  toolScope: string;
  /** Tokens that the MCP server accepts, with their scope. */
  readonly accepted: Map<string, string>;
  readonly refreshTokens: Map<string, string>;
  /** A refresh token was used twice. */
  reused: number;
  readonly revoked: string[];
}

export async function startAuthorization(): Promise<Authorization> {
  const codes = new Map<
    string,
    { readonly challenge: string; readonly scope: string; readonly client: string }
  >();
  const clients = new Map<string, string>();
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: "secured", version: "1.0.0" });
    server.registerTool("whoami", { description: "Says who you are." }, async () => ({
      content: [{ type: "text", text: "you" }],
    }));
    return server;
  });
  const state: Authorization = {
    mcp: "",
    issuer: "",
    requests: [],
    intercept: undefined,
    metadata: {},
    resource: {},
    redirect: {},
    expiresIn: 3600,
    toolScope: "",
    accepted: new Map(),
    refreshTokens: new Map(),
    reused: 0,
    revoked: [],
  };
  const issued = (scope: string): Response => {
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    state.accepted.set(access, scope);
    state.refreshTokens.set(refresh, scope);
    return Response.json({
      access_token: access,
      token_type: "Bearer",
      refresh_token: refresh,
      ...(scope === "" ? {} : { scope }),
      ...(state.expiresIn === undefined ? {} : { expires_in: state.expiresIn }),
    });
  };
  const token = (form: URLSearchParams): Response => {
    if (form.get("grant_type") === "refresh_token") {
      const given = form.get("refresh_token") ?? "";
      const scope = state.refreshTokens.get(given);
      if (scope === undefined) {
        state.reused += 1;
        return Response.json({ error: "invalid_grant", error_description: given }, { status: 400 });
      }
      state.refreshTokens.delete(given);
      return issued(scope);
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const hash = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (code === undefined || code.challenge !== hash || code.client !== form.get("client_id"))
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    return issued(code.scope);
  };
  const authorizationServer: Answer = async (request, url) => {
    switch (url.pathname) {
      case "/.well-known/oauth-authorization-server":
        return Response.json({
          issuer: state.issuer,
          authorization_endpoint: `${state.issuer}/authorize`,
          token_endpoint: `${state.issuer}/token`,
          registration_endpoint: `${state.issuer}/register`,
          revocation_endpoint: `${state.issuer}/revoke`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          authorization_response_iss_parameter_supported: true,
          ...state.metadata,
        });
      case "/register": {
        const wanted = (await request.json()) as { redirect_uris: [string] };
        const id = `client-${randomUUID()}`;
        clients.set(id, wanted.redirect_uris[0]);
        return Response.json({ ...wanted, client_id: id }, { status: 201 });
      }
      case "/authorize": {
        const asked = url.searchParams;
        const client = asked.get("client_id") ?? "";
        const back = new URL(asked.get("redirect_uri") ?? "");
        if (clients.has(client) && clients.get(client) !== back.href)
          return new Response("another redirect", { status: 400 });
        const code = `code-${randomUUID()}`;
        codes.set(code, {
          challenge: asked.get("code_challenge") ?? "",
          scope: asked.get("scope") ?? "",
          client,
        });
        const params = { code, state: asked.get("state") ?? "", iss: state.issuer, ...state.redirect };
        for (const [name, value] of Object.entries(params))
          if (value !== undefined) back.searchParams.set(name, value);
        return Response.redirect(back.href, 302);
      }
      case "/token":
        return token(new URLSearchParams(await request.text()));
      case "/revoke":
        state.revoked.push(new URLSearchParams(await request.text()).get("token") ?? "");
        return new Response(null, { status: 200 });
      default:
        return new Response(null, { status: 404 });
    }
  };
  const resourceServer: Answer = (request, url) => {
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
      return Response.json({
        resource: state.mcp,
        authorization_servers: [state.issuer],
        ...state.resource,
      });
    if (url.pathname !== "/mcp") return new Response(null, { status: 404 });
    const metadata = `resource_metadata="${new URL("/.well-known/oauth-protected-resource/mcp", url).href}"`;
    const bearer = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    const scope = state.accepted.get(bearer);
    if (scope === undefined)
      return new Response(null, { status: 401, headers: { "www-authenticate": `Bearer ${metadata}` } });
    if (!scope.split(" ").includes(state.toolScope) && state.toolScope !== "")
      return new Response(null, {
        status: 403,
        headers: {
          "www-authenticate": `Bearer error="insufficient_scope", scope="${state.toolScope}", ${metadata}`,
        },
      });
    return mcp.fetch(request);
  };
  const issuer = await listen(state, authorizationServer);
  const origin = await listen(state, resourceServer);
  return Object.assign(state, { issuer, mcp: `${origin}/mcp` });
}

async function listen(state: Authorization, answer: Answer): Promise<string> {
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? "/", `http://${incoming.headers.host}`);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const grant = new URLSearchParams(body.toString()).get("grant_type");
    state.requests.push([incoming.method, url.pathname, grant].filter((one) => one !== null).join(" "));
    const request = new Request(url, {
      method: incoming.method ?? "GET",
      headers: incoming.headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body }),
    });
    const response = (await state.intercept?.(request, url)) ?? (await answer(request, url));
    outgoing.writeHead(response?.status ?? 404, Object.fromEntries(response?.headers ?? []));
    try {
      for await (const chunk of response?.body ?? []) {
        if (outgoing.destroyed) break;
        outgoing.write(chunk);
        await new Promise((resolve) => setImmediate(resolve)); // an endless body must not starve the other side
      }
    } finally {
      outgoing.end();
    }
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterTest(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
