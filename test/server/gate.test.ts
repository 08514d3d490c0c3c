/** What every route refuses. Routes come from the router, so a new one cannot be forgotten. */

import { request as httpRequest } from "node:http";

import { beforeEach, describe, expect, test } from "vitest";

import type { RunningServer } from "../../src/access/server/index.ts";
import { say } from "../contracts/session-fixture.ts";
import { ownPort } from "../support/own-port.ts";
import { type Answer, ask, codeIn, rawSocket, served, type Served } from "./server-fixture.ts";

const isWrite = (method: string): boolean => method !== "GET";
/** A route filled in with a session that exists. */
const filled = (path: string, id = "s1"): string =>
  path
    .replace(":id", id)
    .replace(":turn", "tn_x")
    .replace(":request", "pr_x")
    .replace(":n", "1")
    .replace(":m", "1")
    .replace(":name", "0".repeat(64));

async function withSession(): Promise<Served> {
  // Each request is judged on its own here; limits.test.ts covers the effect of many.
  const server = { limits: { wrongKeys: 1e6 } };
  const parts = await served({ script: [{ output: [say("Hello")] }], server });
  const session = await parts.remote.open({ id: "s1" });
  await session.send("Hi").result();
  return parts;
}

/** Sends every form of a bad request to every route; lists those that got through. */
async function comeThrough(
  server: RunningServer,
  forms: readonly {
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    readonly bare?: boolean;
  }[],
  expected: readonly number[],
  routes = server.routes,
): Promise<readonly unknown[]> {
  const through: unknown[] = [];
  for (const { method, path } of routes) {
    for (const { headers, bare } of forms) {
      const answer = await ask(server, {
        method,
        path: filled(path),
        headers,
        bare: bare ?? false,
        ...(isWrite(method) ? { body: "{}" } : {}),
      });
      if (!expected.includes(answer.status)) through.push([method, path, headers, answer.status]);
    }
  }
  return through;
}

type Route = Pick<RunningServer["routes"][number], "method" | "path">;

/** A balancer asks these under any name, and they show nothing. */
const isProbe = ({ path }: Route): boolean => path === "/healthz" || path === "/readyz";

const isOpenToAll = (route: Route): boolean =>
  (route.method === "GET" && route.path === "/login") ||
  (route.method === "POST" && route.path === "/api/login") ||
  isProbe(route);

describe("every route", () => {
  let parts: Served;
  let server: RunningServer;
  let before: readonly string[];
  const host = (): string => `127.0.0.1:${server.port}`;

  beforeEach(async () => {
    parts = await withSession();
    ({ server } = parts);
    before = await logOf(parts);
  });

  test("exists and is documented in docs/http-api.md", async () => {
    const { readFileSync } = await import("node:fs");
    const document = readFileSync(new URL("../../docs/http-api.md", import.meta.url), "utf8");
    expect(server.routes.length).toBeGreaterThan(30);
    expect(server.routes.filter(({ method, path }) => !document.includes(`\`${method} ${path}\``))).toEqual(
      [],
    );
  });

  test("refuses a missing, wrong, empty, doubled or huge token", async () => {
    const own = { host: host(), "content-type": "application/json" };
    const wrong = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: `Bearer ${server.token.slice(1)}` },
      { authorization: `Bearer ${server.token}x` },
      { authorization: `Basic ${server.token}` },
      { authorization: [`Bearer ${server.token}`, `Bearer ${server.token}`] },
      { authorization: `Bearer ${"x".repeat(15_000)}` },
      { cookie: `throughline_${server.port}=${server.token}` },
      { cookie: `throughline_${server.port}=` },
      { cookie: `throughline_1=x; other=y` },
    ];
    const forms = wrong.map((one) => ({ bare: true, headers: { ...own, ...one } as Record<string, string> }));
    const closed = server.routes.filter((route) => !isOpenToAll(route));
    expect(closed.length).toBe(server.routes.length - 4);
    // Node itself answers 431 to a header that is too long.
    expect(await comeThrough(server, forms, [401, 431], closed)).toEqual([]);
  });

  test("accepts at login only a code that was not used", async () => {
    for (const code of ["", "x", server.token, "A".repeat(43)]) {
      expect(
        (await ask(server, { path: `/login?code=${code}`, bare: true, headers: { host: host() } })).status,
      ).toBe(401);
      const answer = await ask(server, {
        method: "POST",
        path: "/api/login",
        body: JSON.stringify({ code }),
      });
      expect([answer.status, codeIn(answer)]).toEqual([401, "code_used"]);
    }
  });

  test("refuses any host name but its own", async () => {
    const hosts = [
      "evil.com",
      "127.0.0.1.evil.com",
      `127.0.0.1.evil.com:${server.port}`,
      `localhost.evil.com:${server.port}`,
      "127.0.0.1",
      "localhost",
      "127.0.0.1:1",
      `[::1]:${server.port}`,
      `0x7f.1:${server.port}`,
      `127.1:${server.port}`,
      `0.0.0.0:${server.port}`,
      `x@127.0.0.1:${server.port}`,
      `127.0.0.1:${server.port}.`,
      ` 127.0.0.1:${server.port} x`,
    ];
    expect(
      await comeThrough(
        server,
        hosts.map((name) => ({ headers: { host: name } })),
        [421, 400],
        server.routes.filter((route) => !isProbe(route)),
      ),
    ).toEqual([]);
    expect(await comeThrough(server, [{ headers: { host: `LOCALHOST:${server.port}` } }], [421])).not.toEqual(
      [],
    );
  });

  test("refuses requests with no host name, with two, or with another one in the target", async () => {
    const token = `authorization: Bearer ${server.token}`;
    const own = `host: ${host()}`;
    expect(await raw(server, `GET /api/server HTTP/1.1\r\n${token}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 4(?:00|21)/,
    );
    expect(await raw(server, `GET /api/server HTTP/1.0\r\n${token}\r\n\r\n`)).toMatch(/^HTTP\/1.1 421/);
    expect(
      await raw(server, `GET /api/server HTTP/1.1\r\n${own}\r\nhost: evil.com\r\n${token}\r\n\r\n`),
    ).toMatch(/^HTTP\/1.1 4(?:00|21)/);
    expect(
      await raw(server, `GET http://evil.com/api/server HTTP/1.1\r\n${own}\r\n${token}\r\n\r\n`),
    ).toMatch(/^HTTP\/1.1 400/);
    expect(await raw(server, `GET //evil.com/api/server HTTP/1.1\r\n${own}\r\n${token}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 400/,
    );
    expect(
      await raw(server, `GET /api/server HTTP/1.1\r\n${own}\r\n${token}\r\nconnection: close\r\n\r\n`),
    ).toMatch(/^HTTP\/1.1 200/);
  });

  test("refuses every origin but its own, and every request a browser marks as cross-site", async () => {
    const origins = [
      "http://evil.com",
      "null",
      "http://localhost:3000",
      `https://127.0.0.1:${server.port}`,
      `http://localhost:${server.port}`,
      `http://127.0.0.1:${server.port}.evil.com`,
      `http://127.0.0.1:${server.port}/`,
      "http://127.0.0.1",
      "",
    ].map((origin) => ({ headers: { origin } }));
    const sites = ["cross-site", "same-site", "other"].map((site) => ({
      headers: { "sec-fetch-site": site },
    }));
    expect(await comeThrough(server, [...origins, ...sites], [403])).toEqual([]);
  });

  test("refuses a write that is not JSON: forms, text, multipart, nothing, compressed", async () => {
    const writes = server.routes.filter(({ method }) => isWrite(method));
    expect(writes.length).toBeGreaterThan(15);
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json; charset=latin1",
      "application/jsonx",
      "text/plain, application/json",
      "",
    ].map((type) => ({ headers: { "content-type": type } }));
    const forms = [...types, { headers: { "content-encoding": "gzip" } }];
    expect(await comeThrough(server, forms, [415], writes)).toEqual([]);
  });

  test("accepts no other method, and sends no CORS headers", async () => {
    for (const { path } of server.routes) {
      for (const method of ["OPTIONS", "PUT", "PATCH", "TRACE"]) {
        const answer = await ask(server, {
          method,
          path: filled(path),
          headers: { origin: `http://${host()}` },
        });
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    }
  });

  test("changes nothing on a GET, and takes no body with it", async () => {
    const gets = server.routes.filter((route) => !isWrite(route.method) && !isOpenToAll(route));
    for (const { path } of gets) {
      const answer = await ask(server, {
        path: filled(path),
        headers: { "content-length": "2" },
        body: "{}",
      });
      expect([path, answer.status]).toEqual([path, 400]);
      await ask(server, { path: filled(path) });
    }
    expect(await logOf(parts)).toEqual(before);
  });

  test("refuses ids that are paths", async () => {
    const ids = [
      "..",
      "../s1",
      "..%2fs1",
      "%2e%2e%2fs1",
      "%252e%252e%252fs1",
      "..%5cs1",
      "%00",
      "s1%00",
      "%2fetc%2fpasswd",
      "C:%5cx",
      "%5c%5chost%5cshare",
      "a".repeat(65),
      "a".repeat(4000),
      "%EF%BC%8E%EF%BC%8E",
      "s1.jsonl",
      "-s1",
      "%",
      "%zz",
      "s 1",
    ].map((id) => id.replaceAll(" ", "%20"));
    const through: unknown[] = [];
    for (const { method, path } of server.routes.filter((route) => route.path.includes("/:"))) {
      const parameters = path.match(/:\w+/g) ?? [];
      for (const address of ids.flatMap((id) => parameters.map((name) => filled(path.replace(name, id))))) {
        const answer = await ask(server, {
          method,
          path: address,
          ...(isWrite(method) ? { body: "{}" } : {}),
        });
        // An address with dots resolves to another address of the same server: a list or a session, never a file.
        const elsewhere = address.includes("..") || address.includes("%2e");
        if (![400, 404, 409, 414].includes(answer.status) && !elsewhere)
          through.push([method, address, answer.status]);
        if (/\/(?:home|tmp|root|work|etc)\//.test(answer.text)) through.push([method, address, answer.text]);
      }
    }
    expect(through).toEqual([]);
    expect(await logOf(parts)).toEqual(before);
  });

  test("sends the same protective headers with every answer, refusals included", async () => {
    for (const { method, path } of server.routes) {
      for (const bare of [false, true]) {
        const answer = await ask(server, {
          method,
          path: filled(path),
          bare,
          ...(bare ? { headers: { host: host() } } : {}),
          ...(isWrite(method) ? { body: "{}" } : {}),
        });
        expect(answer.headers).toMatchObject({
          "content-security-policy": expect.stringMatching(
            /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
          ) as unknown,
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "referrer-policy": "no-referrer",
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-resource-policy": "same-origin",
          "cache-control": "no-store",
        });
        expect(answer.headers["content-security-policy"]).not.toContain("unsafe");
      }
    }
  });
});

async function logOf({ store }: Served): Promise<readonly string[]> {
  const log = await store.open("s1", { mode: "read" });
  await log.close();
  return log.events.map(({ seq, type }) => `${seq} ${type}`);
}

async function raw(server: RunningServer, text: string): Promise<string> {
  const socket = await rawSocket(server);
  socket.write(text);
  let answer = "";
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.includes("\r\n\r\n")) break;
  }
  return answer;
}

const cookieOf = (answer: Answer): string => String(answer.headers["set-cookie"]).split(";")[0] ?? "";

describe("a browser", () => {
  test("logs in by the link once, and then by a cookie that no script can read", async () => {
    const { server } = await served();
    const host = `127.0.0.1:${server.port}`;
    const link = new URL(await server.newLink());
    const open = (): Promise<Answer> =>
      ask(server, { path: `${link.pathname}${link.search}`, bare: true, headers: { host } });
    // A preview of the link must not use it up.
    expect(
      (
        await ask(server, {
          method: "HEAD",
          path: `${link.pathname}${link.search}`,
          bare: true,
          headers: { host },
        })
      ).status,
    ).toBe(401);
    const first = await open();
    expect(first.status).toBe(200);
    expect(String(first.headers["set-cookie"])).toMatch(
      new RegExp(`^throughline_${server.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(first.text + String(first.headers["set-cookie"])).not.toContain(server.token);
    expect((await open()).status).toBe(401);

    const cookie = cookieOf(first);
    const asks = (method: string, headers: Record<string, string>): Promise<Answer> =>
      ask(server, {
        method,
        path: "/api/sessions",
        bare: true,
        headers: { host, cookie, ...headers },
        ...(method === "GET" ? {} : { body: "{}" }),
      });
    const json = { "content-type": "application/json" };
    expect((await asks("GET", { "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect(
      (await asks("POST", { ...json, origin: `http://${host}`, "sec-fetch-site": "same-origin" })).status,
    ).toBe(201);
    // The browser sends the cookie automatically, so the request must also show where it comes from.
    expect((await asks("POST", json)).status).toBe(403);
    expect((await asks("POST", { ...json, origin: "http://localhost:3000" })).status).toBe(403);
    expect((await asks("GET", { "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await asks("GET", { cookie: `${cookie}; ${cookie}` })).status).toBe(401);
  });

  test("that clicks the link on another page can log in, but cannot do anything else", async () => {
    const { server } = await served();
    const link = new URL(await server.newLink());
    const foreign = { host: `127.0.0.1:${server.port}`, "sec-fetch-site": "cross-site" };
    const path = `${link.pathname}${link.search}`;
    expect(
      (await ask(server, { path, bare: true, headers: { ...foreign, "sec-fetch-mode": "no-cors" } })).status,
    ).toBe(403);
    expect(
      (await ask(server, { path, bare: true, headers: { ...foreign, "sec-fetch-mode": "navigate" } })).status,
    ).toBe(200);
    expect(
      (await ask(server, { path: "/", headers: { ...foreign, "sec-fetch-mode": "navigate" } })).status,
    ).toBe(403);
  });

  test("without the link gets instructions on a page without scripts", async () => {
    const { server } = await served();
    const answer = await ask(server, {
      path: "/",
      bare: true,
      headers: { host: `127.0.0.1:${server.port}`, accept: "text/html" },
    });
    expect([answer.status, answer.headers["content-type"]]).toEqual([401, "text/html; charset=utf-8"]);
    expect(answer.text).toContain("Open the link");
    expect(answer.text).not.toMatch(/<script|style=/);
  });

  test("keeps its cookie over a restart with the same token", async () => {
    const token = "0123456789abcdef0123456789abcdef";
    const { server } = await served({ server: { token, port: await ownPort() } });
    const link = new URL(await server.newLink());
    const cookie = cookieOf(await ask(server, { path: `${link.pathname}${link.search}` }));
    await server.close();
    const { server: again } = await served({ server: { token, port: server.port } });
    const headers = { host: `127.0.0.1:${again.port}`, cookie };
    expect((await ask(again, { path: "/api/server", bare: true, headers })).status).toBe(200);
  });

  test("needs a token that cannot be guessed: the server refuses a weak one", async () => {
    await expect(served({ server: { token: "short" } })).rejects.toMatchObject({ code: "token_weak" });
  });
});

test("the server listens on loopback only, and reports a port that is in use", async () => {
  const { server } = await served();
  const reached = await new Promise<string>((resolve) => {
    const request = httpRequest({ host: "127.0.0.2", port: server.port }, () => resolve("answered"));
    request.on("error", (error) => resolve((error as { readonly code?: string }).code ?? ""));
    request.end();
  });
  expect(reached).toBe("ECONNREFUSED");
  await expect(served({ server: { port: server.port } })).rejects.toMatchObject({ code: "port_in_use" });
});
