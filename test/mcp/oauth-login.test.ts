import { statSync } from "node:fs";
import { dirname } from "node:path";

import { describe, expect, test } from "vitest";

import { McpOAuth } from "../../src/runtime/mcp/loaded.ts";
import { LOGIN_MS } from "../../src/runtime/mcp/oauth/authorize.ts";
import { MAX_ANSWER_BYTES, MAX_ANSWER_MS } from "../../src/runtime/mcp/oauth/bounded-fetch.ts";
import { failureOf, follow, loginFixture } from "./support/login-fixture.ts";

describe("a server that wants a login", () => {
  test("is not connected, says how to log in, and nothing is registered or opened", async () => {
    const { source, state, at } = await loginFixture();
    await source.ready();
    expect(source.servers[0]).toMatchObject({
      state: "login_needed",
      problem: "MCP server docs needs a login",
    });
    expect(state()).toBe("login_needed");
    expect(at.requests.filter((one) => !one.endsWith("/mcp"))).toEqual([]);
  });

  test("is connected after a login, and its tools can be called", async () => {
    const { source, login, call, links, at, path, tokens } = await loginFixture();
    await source.ready();
    await login();
    await source.reconnect("docs");
    expect(source.servers[0]).toMatchObject({ state: "connected", tools: 1 });
    expect(await call()).toBe("you");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    const [link] = links;
    const asked = new URL(link ?? "").searchParams;
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect(asked.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(Buffer.from(asked.get("state") ?? "", "base64url")).toHaveLength(32);
    expect(asked.get("resource")).toBe(at.mcp);
    expect(tokens.logins()).toMatchObject([{ server: at.mcp, issuer: at.issuer }]);
  });

  test("gets the login of another process from the file", async () => {
    const { source, state, at, tokens } = await loginFixture();
    await source.ready();
    expect(state()).toBe("login_needed");
    const other = new McpOAuth({ name: "docs", url: at.mcp, tokens });
    await other.login({ openLink: (link) => follow(link) });
    await source.reconnect("docs");
    expect(state()).toBe("connected");
  });

  test("asks for more rights: the next login asks for them too", async () => {
    const { source, login, call, links, at } = await loginFixture();
    at.resource = { scopes_supported: ["read"] };
    await login();
    await source.ready();
    at.toolScope = "write";
    expect(await call()).toBe(
      "MCP server docs asks for more rights than the login has: write; not executed. The user can log in: throughline mcp login docs",
    );
    expect(source.servers[0]?.state).toBe("login_needed");
    await login();
    expect(new URL(links[1] ?? "").searchParams.get("scope")).toBe("read write");
    await source.reconnect("docs");
    expect(await call()).toBe("you");
  });

  test("that refuses rights which it has granted is not asked for a login again and again", async () => {
    const { source, login, call, at } = await loginFixture();
    at.resource = { scopes_supported: ["read write"] };
    await login();
    await source.ready();
    at.toolScope = "write";
    at.accepted.forEach((_, token) => at.accepted.set(token, "nothing"));
    expect(await call()).toContain("refuses the request although the login has the rights");
  });
});

describe("secrets", () => {
  test("of a login are listed, and none is in a message", async () => {
    const { oauth, login, tokens, links, at } = await loginFixture();
    await login();
    const [{ accessToken, refreshToken } = { accessToken: "", refreshToken: "" }] = tokens.logins();
    const state = new URL(links[0] ?? "").searchParams.get("state");
    expect(oauth.secrets()).toEqual(expect.arrayContaining([accessToken, refreshToken, state]));
    // state, verifier, code, access token, refresh token
    expect(oauth.secrets()).toHaveLength(5);
    at.intercept = async (request, url) =>
      url.pathname === "/token"
        ? Response.json({ error: "server_error", error_description: await request.text() }, { status: 400 })
        : undefined;
    const { code, message } = await failureOf(login);
    expect(code).toBe("mcp_login_failed");
    expect(message).toContain("[redacted]");
    for (const secret of oauth.secrets()) expect(message).not.toContain(secret);
  });
});

describe("a login fails", () => {
  const cases: readonly (readonly [string, (fixture: Fixture) => void, string])[] = [
    [
      "with a wrong state",
      ({ at }) => (at.redirect = { state: "x".repeat(43) }),
      "does not belong to this login",
    ],
    ["without a state", ({ at }) => (at.redirect = { state: undefined }), "does not belong to this login"],
    [
      "with the issuer of another server",
      ({ at }) => (at.redirect = { iss: "https://evil.example" }),
      "Issuer mismatch",
    ],
    [
      "without the issuer that was promised",
      ({ at }) => (at.redirect = { iss: undefined }),
      "Issuer mismatch",
    ],
    [
      "when the person refuses it, with inert words",
      ({ at }) =>
        (at.redirect = { code: undefined, error: "access_denied", error_description: "no\u001b[31m" }),
      "refused it: access_denied no␛[31m",
    ],
    ["without a code", ({ at }) => (at.redirect = { code: undefined }), "without a code"],
    ["without PKCE", ({ at }) => (at.metadata = { code_challenge_methods_supported: ["plain"] }), "PKCE"],
    [
      "when the server says nothing about PKCE",
      ({ at }) => (at.metadata = { code_challenge_methods_supported: undefined }),
      "PKCE",
    ],
    [
      "when the metadata names another issuer",
      ({ at }) => (at.metadata = { issuer: "https://evil.example" }),
      "Issuer mismatch",
    ],
    [
      "when the token endpoint is not encrypted",
      ({ at }) => (at.metadata = { token_endpoint: "http://auth.example/token" }),
      "non-https",
    ],
    [
      "when the link is not encrypted",
      ({ at }) => (at.metadata = { authorization_endpoint: "http://auth.example/authorize" }),
      "http://auth.example is not an https address",
    ],
    [
      "when the link is no web address",
      ({ at }) => (at.metadata = { authorization_endpoint: "javascript:alert(1)" }),
      "unexpected form",
    ],
    [
      "when the MCP server names another server as its own",
      ({ at }) => (at.resource = { resource: "https://other.example/mcp" }),
      "names another server",
    ],
    [
      "when nobody can register",
      ({ at }) => (at.metadata = { registration_endpoint: undefined }),
      "register one there and set its clientId",
    ],
    [
      "with tokens of another type",
      ({ at }) => intercept(at, "/token", () => boundTokens()),
      "the type DPoP",
    ],
    [
      "when the metadata is no JSON",
      ({ at }) => intercept(at, METADATA, () => new Response("{")),
      "unexpected form",
    ],
    [
      "when the metadata is huge",
      ({ at }) => intercept(at, METADATA, () => new Response("x".repeat(MAX_ANSWER_BYTES + 1))),
      `more than ${MAX_ANSWER_BYTES} bytes`,
    ],
    [
      "when the metadata of the MCP server is huge",
      ({ at }) => intercept(at, RESOURCE, () => new Response("x".repeat(MAX_ANSWER_BYTES + 1))),
      `more than ${MAX_ANSWER_BYTES} bytes`,
    ],
    [
      "when the tokens never end",
      ({ at }) => intercept(at, "/token", endless),
      `more than ${MAX_ANSWER_BYTES} bytes`,
    ],
    [
      "when the tokens are elsewhere",
      ({ at }) => intercept(at, "/token", () => moved("https://evil.example/token")),
      "HTTP 307",
    ],
    [
      "when the metadata is elsewhere",
      ({ at }) => intercept(at, METADATA, () => moved("https://evil.example/metadata")),
      "publishes no metadata",
    ],
  ];

  test.for(cases)("%s, and no token is saved", async ([, arrange, why]) => {
    const fixture = await loginFixture();
    arrange(fixture);
    const { code, message } = await failureOf(fixture.login);
    expect(message).toContain("MCP server docs: the login failed: ");
    expect(message).toContain(why);
    expect(code).toBe("mcp_login_failed");
    expect(fixture.tokens.logins()).toEqual([]);
    for (const secret of fixture.oauth.secrets()) expect(message).not.toContain(secret);
  });

  test("when an error comes from another server: it is not believed", async () => {
    const { at, login } = await loginFixture();
    at.redirect = { code: undefined, iss: undefined, error: "access_denied" };
    const { message } = await failureOf(login);
    expect(message).toContain("Issuer mismatch");
    expect(message).not.toContain("access_denied");
  });

  test("when a document is too large, and does not go on without it", async () => {
    const { at, login, links } = await loginFixture();
    const { origin } = new URL(at.mcp);
    at.intercept = (_, url) => {
      if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
        return new Response("x".repeat(MAX_ANSWER_BYTES + 1));
      // Where the SDK would look without that document.
      if (url.origin !== origin || url.pathname !== METADATA) return undefined;
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${at.issuer}/authorize`,
        token_endpoint: `${at.issuer}/token`,
        registration_endpoint: `${at.issuer}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      });
    };
    expect((await failureOf(login)).message).toContain(`more than ${MAX_ANSWER_BYTES} bytes`);
    expect(links).toEqual([]);
  });

  test("when an answer stalls, after its time", async () => {
    const fixture = await loginFixture();
    intercept(fixture.at, "/token", () => new Response(new ReadableStream()));
    const failed = failureOf(fixture.login);
    await expect.poll(() => fixture.at.requests).toContain("POST /token authorization_code");
    fixture.clock.move(MAX_ANSWER_MS);
    expect((await failed).message).toContain("did not answer within 30 s");
  });

  test("when nobody follows the link, after five minutes", async () => {
    const { oauth, clock } = await loginFixture();
    const failed = failureOf(() => oauth.login({ openLink: () => undefined }));
    await expect.poll(() => clock.waiting(LOGIN_MS)).toBe(1);
    clock.move(LOGIN_MS);
    expect((await failed).message).toContain("nobody finished it within 5 minutes");
  });

  test("when it is stopped, and nothing listens any more", async () => {
    const { oauth } = await loginFixture();
    const stop = new AbortController();
    let redirect = "";
    const failed = failureOf(() =>
      oauth.login({
        signal: stop.signal,
        openLink: (link) => {
          redirect = new URL(link).searchParams.get("redirect_uri") ?? "";
          stop.abort();
        },
      }),
    );
    expect((await failed).code).toBe("stopped");
    await expect(fetch(redirect)).rejects.toThrow();
  });

  test("when the link cannot be shown", async () => {
    const { oauth } = await loginFixture();
    const { message } = await failureOf(() =>
      oauth.login({ openLink: () => Promise.reject(new Error("no browser")) }),
    );
    expect(message).toBe("MCP server docs: the login failed: no browser");
  });

  test("when an MCP server elsewhere names an address on this machine", async () => {
    const { at, tokens, clock } = await loginFixture();
    const oauth = new McpOAuth({
      name: "far",
      url: "https://mcp.example/mcp",
      tokens,
      clock,
      fetch: async (url) =>
        Response.json(
          String(url).includes("protected-resource")
            ? { resource: "https://mcp.example/mcp", authorization_servers: [at.issuer] }
            : {},
        ),
    });
    const { message } = await failureOf(() => oauth.login({ openLink: (link) => follow(link) }));
    expect(message).toContain("names an address on this machine");
    expect(at.requests).toEqual([]);
  });
});

describe("the address that the browser comes back to", () => {
  test("answers one request, knows one path and one name, and shows nothing of a request", async () => {
    const { oauth, at } = await loginFixture();
    const seen: unknown[] = [];
    await oauth.login({
      openLink: async (link) => {
        const back = new URL(new URL(link).searchParams.get("redirect_uri") ?? "");
        seen.push((await fetch(new URL("/favicon.ico", back))).status);
        seen.push((await fetch(back, { method: "POST" })).status);
        seen.push((await fetch(back.href.replace("127.0.0.1", "localhost"))).status);
        const page = await fetch(link);
        seen.push(page.status, page.headers.get("content-type"), await page.text());
      },
    });
    expect(seen).toEqual([
      404,
      404,
      404,
      200,
      "text/plain; charset=utf-8",
      "You can close this page and go back to the terminal.\n",
    ]);
    expect(at.accepted.size).toBe(1);
  });
});

describe("a client that is known already", () => {
  test("uses its own id and registers nothing", async () => {
    const { login, links, at, tokens } = await loginFixture({ clientId: "mine" });
    await login();
    expect(new URL(links[0] ?? "").searchParams.get("client_id")).toBe("mine");
    expect(at.requests).not.toContain("POST /register");
    expect(tokens.logins()).toMatchObject([{ client: { client_id: "mine" } }]);
  });

  test("uses its metadata document where the server reads such", async () => {
    const clientMetadataUrl = "https://throughline.example/client.json";
    const { login, links, at } = await loginFixture({ clientMetadataUrl });
    at.metadata = { client_id_metadata_document_supported: true };
    await login();
    expect(new URL(links[0] ?? "").searchParams.get("client_id")).toBe(clientMetadataUrl);
    expect(at.requests).not.toContain("POST /register");
  });

  test("gives its secret to no other authorization server than its own", async () => {
    const { login, at } = await loginFixture({
      clientId: "mine",
      clientSecret: "very-secret-value",
      issuer: "https://auth.example",
    });
    const { message } = await failureOf(login);
    expect(message).toContain("another authorization server than the one that is set");
    expect(at.requests.filter((one) => one.startsWith("POST"))).toEqual([]);
  });
});

type Fixture = Awaited<ReturnType<typeof loginFixture>>;

const METADATA = "/.well-known/oauth-authorization-server";
const RESOURCE = "/.well-known/oauth-protected-resource/mcp";

function intercept(at: Fixture["at"], path: string, answer: () => Response): void {
  at.intercept = (_, url) => (url.pathname === path ? answer() : undefined);
}

function boundTokens(): Response {
  return Response.json({ access_token: "bound-to-a-key", token_type: "DPoP" });
}

function moved(location: string): Response {
  return new Response(null, { status: 307, headers: { location } });
}

function endless(): Response {
  const block = new Uint8Array(64 * 1024);
  return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(block) }));
}
