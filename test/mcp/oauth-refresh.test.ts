import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createInterface } from "node:readline";

import { describe, expect, test } from "vitest";

import { childProgram } from "../support/built.ts";
import { afterTest } from "../support/clean-up.ts";
import { failureOf, loginFixture } from "./support/login-fixture.ts";

/** Long enough that a refused token is not taken for one that was just renewed. */
const LATER_MS = 60_000;

async function connectedFixture() {
  const fixture = await loginFixture();
  await fixture.login();
  await fixture.source.ready();
  expect(fixture.state()).toBe("connected");
  fixture.clock.move(LATER_MS);
  return fixture;
}

describe("a token that the server no longer accepts", () => {
  test("is renewed by itself, and the call is made", async () => {
    const { at, call, tokens } = await connectedFixture();
    const [before] = tokens.logins();
    at.accepted.clear();
    expect(await call()).toBe("you");
    const [after] = tokens.logins();
    expect(after?.accessToken).not.toBe(before?.accessToken);
    expect(after?.refreshToken).not.toBe(before?.refreshToken);
    expect({ issuer: after?.issuer, client: after?.client }).toEqual({
      issuer: before?.issuer,
      client: before?.client,
    });
    expect(at.requests.filter((one) => one.endsWith("refresh_token"))).toHaveLength(1);
  });

  test("is renewed once for calls that run together", async () => {
    const { at, call } = await connectedFixture();
    at.accepted.clear();
    expect(await Promise.all([call(), call(), call()])).toEqual(["you", "you", "you"]);
    expect(at.requests.filter((one) => one.endsWith("refresh_token"))).toHaveLength(1);
  });

  test("is not renewed again for a call that was refused before it was renewed", async () => {
    const { at, oauth } = await connectedFixture();
    const refused = (): Promise<void> =>
      oauth.onUnauthorized({ response: new Response(null, { status: 401 }) });
    await refused();
    await refused();
    expect(at.requests.filter((one) => one.endsWith("refresh_token"))).toHaveLength(1);
  });

  test("needs a login if the refresh token has ended too, and is forgotten", async () => {
    const { at, call, state, tokens, oauth } = await connectedFixture();
    at.accepted.clear();
    at.refreshTokens.clear();
    const text = await call();
    expect(text).toContain("needs a new login: the last one has ended; not executed");
    for (const secret of oauth.secrets()) expect(text).not.toContain(secret);
    expect(state()).toBe("login_needed");
    expect(tokens.logins()).toEqual([]);
  });

  test("is kept if the authorization server is away, and the call was not executed", async () => {
    const { at, call, tokens } = await connectedFixture();
    const before = tokens.logins();
    at.accepted.clear();
    at.intercept = (_, url) =>
      url.pathname === "/token" ? new Response("oops", { status: 503 }) : undefined;
    const text = await call();
    expect(text).toContain("the login could not be renewed");
    expect(text).toContain("not executed");
    expect(tokens.logins()).toEqual(before);
    at.intercept = undefined;
    expect(await call()).toBe("you");
  });

  test("is not sent to another authorization server that the MCP server has moved to", async () => {
    const { at, call } = await connectedFixture();
    const other = await loginFixture();
    at.resource = { authorization_servers: [other.at.issuer] };
    at.accepted.clear();
    expect(await call()).toContain("it has another authorization server now; not executed");
    expect(other.at.requests.filter((one) => one.startsWith("POST"))).toEqual([]);
  });

  test("needs a login after the server has refused the renewed one as well", async () => {
    const { at, call, state } = await connectedFixture();
    at.accepted.clear();
    at.intercept = (_, url) =>
      url.pathname === "/mcp"
        ? new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } })
        : undefined;
    expect(await call()).toContain("does not accept the login; not executed");
    expect(state()).toBe("login_needed");
  });
});

describe("a token that is about to end", () => {
  test("is renewed before the call, so that the server never sees it", async () => {
    const { at, call, clock } = await connectedFixture();
    clock.move(3600_000 - LATER_MS - 30_000);
    at.accepted.clear();
    const before = at.requests.length;
    expect(await call()).toBe("you");
    expect(at.requests.slice(before)).toEqual([
      expect.stringContaining("GET /.well-known/oauth-protected-resource"),
      "GET /.well-known/oauth-authorization-server",
      "POST /token refresh_token",
      "POST /mcp",
    ]);
  });

  test("is used as it is while it lasts", async () => {
    const { at, call, clock } = await connectedFixture();
    clock.move(3600_000 - LATER_MS - 31_000);
    const before = at.requests.length;
    expect(await call()).toBe("you");
    expect(at.requests.slice(before)).toEqual(["POST /mcp"]);
  });
});

describe("a logout", () => {
  test("removes the login and revokes both tokens", async () => {
    const { at, oauth, tokens, login } = await loginFixture();
    await login();
    const [saved] = tokens.logins();
    expect(await oauth.logout()).toEqual({ removed: true, revoked: true });
    expect(tokens.logins()).toEqual([]);
    expect(at.revoked).toEqual([saved?.refreshToken, saved?.accessToken]);
    expect(await oauth.logout()).toEqual({ removed: false, revoked: false });
  });

  test("removes the login even if the server offers no way to revoke it, or is away", async () => {
    const { at, oauth, tokens, login } = await loginFixture();
    await login();
    at.metadata = { revocation_endpoint: undefined };
    expect(await oauth.logout()).toEqual({ removed: true, revoked: false });
    await login();
    at.intercept = () => new Response(null, { status: 500 });
    expect(await oauth.logout()).toEqual({ removed: true, revoked: false });
    expect(tokens.logins()).toEqual([]);
  });

  test("leaves the logins at other servers", async () => {
    const { oauth, tokens, login } = await loginFixture();
    await login();
    const other = {
      server: "https://other.example/mcp",
      issuer: "https://auth.example",
      client: { client_id: "c" },
      accessToken: "t",
      savedAt: 0,
    };
    await tokens.save(other);
    await oauth.logout();
    expect(tokens.logins()).toEqual([other]);
  });
});

describe("two processes", () => {
  test("that renew one login at the same time use its refresh token once", async () => {
    const { at, tokens, login, path } = await loginFixture();
    await login();
    at.accepted.clear();
    const children = await Promise.all([1, 2, 3].map(() => startChild([path, at.mcp, "refresh"])));
    for (const child of children) child.go();
    const printed = await Promise.all(children.map((child) => child.done()));
    const [saved] = tokens.logins();
    expect(printed).toEqual([1, 2, 3].map(() => ["ready", saved?.accessToken]));
    expect(at.reused).toBe(0);
    expect(at.requests.filter((one) => one.endsWith("refresh_token"))).toHaveLength(1);
    expect(at.accepted.has(saved?.accessToken ?? "")).toBe(true);
  });

  test("that save logins at the same time lose none", async () => {
    const { tokens, path } = await loginFixture();
    const children = await Promise.all(
      [1, 2, 3].map(() => startChild([path, "https://mcp.example", "save", "20"])),
    );
    await Promise.all(children.map((child) => child.done()));
    expect(new Set(tokens.logins().map(({ server }) => server)).size).toBe(60);
  });
});

test("an unusable file of logins stops nobody who needs no login", async () => {
  const { oauth, tokens, login, at } = await loginFixture();
  await login();
  chmodSync(tokens.path, 0o644);
  expect(await oauth.token()).toBeUndefined();
  const { code } = await failureOf(() => oauth.onUnauthorized({ response: new Response(null) }));
  expect(code).toBe("mcp_tokens_unusable");
  expect(at.reused).toBe(0);
});

async function startChild(args: readonly string[]) {
  const child = spawn(process.execPath, [childProgram("mcp-login-child"), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  afterTest(() => child.kill("SIGKILL"));
  const ended = once(child, "close");
  const printed: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => printed.push(line));
  if (args[2] === "refresh") await once(lines, "line");
  return {
    go: () => child.stdin.write("go\n"),
    done: async () => {
      expect((await ended)[0]).toBe(0);
      return printed;
    },
  };
}
