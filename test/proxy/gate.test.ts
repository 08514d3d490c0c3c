import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

import { describe, expect, test } from "vitest";

import { startChildProxy } from "./support/child-plan.ts";
import { both, codeOf, get, OK } from "./support/gate-world.ts";
import { type Header, valuesOf } from "./support/http-bytes.ts";
import { tls } from "./support/tls.ts";
import { ask, openClient, openProxy, requestTo, startUpstream } from "./support/wire.ts";

describe("the gate", () => {
  test("answers under its own names alone", async () => {
    const { upstream, proxy } = await both({ allowHosts: ["box.lan:4321"] });
    const { port } = proxy;
    const status = async (host: string): Promise<unknown> => {
      const { status: got, body } = await ask(port, get(port, "/up/v1/models", [["Host", host]]));
      return [host, got, codeOf(body)];
    };
    const good = [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`, "box.lan:4321"];
    for (const host of good) expect(await status(host)).toEqual([host, 200, undefined]);
    const bad = [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1",
      `127.0.0.1:${port + 1}`,
      `127.0.0.1.nip.io:${port}`,
      `localhost.evil.example:${port}`,
      `0.0.0.0:${port}`,
      `127.1:${port}`,
      `[::1]:${port}`,
      `127.0.0.1:${port}@evil.example`,
      `evil.example#127.0.0.1:${port}`,
      `127.0.0.1:${port}, evil.example`,
      "",
    ];
    for (const host of bad) expect(await status(host)).toEqual([host, 421, "host_refused"]);
    const twice = requestTo(port, "/up/v1/models", {
      method: "GET",
      headers: [
        ["Host", `127.0.0.1:${port}`],
        ["Host", "evil.example"],
      ],
    });
    expect([400, 421]).toContain((await ask(port, twice)).status);
    expect((await ask(port, Buffer.from("GET /up/v1/models HTTP/1.1\r\n\r\n"))).status).toBe(400);
    expect(upstream.requests).toHaveLength(good.length);
  });

  test("refuses the pages of others, and adds no CORS header", async () => {
    const { upstream, proxy } = await both({ allowOrigins: ["https://notes.example"] });
    const { port } = proxy;
    const good: readonly (readonly Header[])[] = [
      [],
      [["Origin", `http://127.0.0.1:${port}`]],
      [
        ["Origin", "https://notes.example"],
        ["Sec-Fetch-Site", "cross-site"],
      ],
      [["Origin", "vscode-webview://abc"]],
      [["Sec-Fetch-Mode", "cors"]],
      [["Sec-Fetch-Site", "none"]],
      [["Sec-Fetch-Site", "same-origin"]],
    ];
    const bad: readonly (readonly Header[])[] = [
      [["Origin", "http://evil.example"]],
      [["Origin", "null"]],
      [["Origin", "http://localhost:3000"]],
      [["Origin", `http://127.0.0.1:${port + 1}`]],
      [["Origin", "https://notes.example.evil.example"]],
      [
        ["Origin", `http://127.0.0.1:${port}`],
        ["Origin", "http://evil.example"],
      ],
      [
        ["Origin", `http://127.0.0.1:${port}`],
        ["Sec-Fetch-Site", "cross-site"],
      ],
      [["Sec-Fetch-Site", "cross-site"]],
      [["Sec-Fetch-Site", "same-site"]],
      [
        ["sec-fetch-site", "none"],
        ["Sec-Fetch-Site", "cross-site"],
      ],
    ];
    for (const method of ["GET", "POST", "OPTIONS"]) {
      for (const headers of good)
        expect([
          headers,
          (await ask(port, requestTo(port, "/up/v1/responses", { method, headers }))).status,
        ]).toEqual([headers, 200]);
      for (const headers of bad) {
        const got = await ask(port, requestTo(port, "/up/v1/responses", { method, headers }));
        expect([headers, got.status, codeOf(got.body)]).toEqual([headers, 403, "origin_refused"]);
        expect(got.headers.filter(([name]) => /^access-control/i.test(name))).toEqual([]);
      }
    }
    expect(upstream.requests).toHaveLength(3 * good.length);
  });

  test("no target leaves the origin of its route", async () => {
    const { upstream, proxy } = await both();
    const other = await startUpstream(OK);
    const { port } = proxy;
    const evil = other.origin.slice(7);
    const rest = [
      `//${evil}/x`,
      `/..//${evil}/x`,
      `/@${evil}/x`,
      "/../../etc/passwd",
      "/%2e%2e/%2e%2e/x",
      `/%2f%2f${evil}`,
      "/a%2fb",
      "/..",
      "/.",
      "//",
      `/\\${evil}`,
      `/http://${evil}/x`,
      "/v1/models?to=http://evil.example#x",
      "/;a=b",
      `/?@${evil}`,
    ];
    for (const one of rest) {
      const before = upstream.requests.length;
      const { status } = await ask(port, get(port, `/up${one}`));
      const [arrived] = upstream.requests.slice(before);
      expect([one, status, arrived?.start]).toEqual([one, 200, `GET ${one} HTTP/1.1`]);
      expect(valuesOf(arrived?.headers ?? [], "host")).toEqual([upstream.origin.slice(7)]);
    }
    const refused = [
      `http://${evil}/x`,
      `http://127.0.0.1:${port}/up/v1/models`,
      `${upstream.origin}/v1/models`,
      `//${evil}/x`,
      "//up/x",
      "*",
      "up/x",
      `${evil}:80`,
    ];
    const before = upstream.requests.length;
    for (const target of refused)
      expect([target, (await ask(port, get(port, target))).status]).toEqual([target, 400]);
    for (const target of [
      "/",
      "/up2/x",
      "/UP/x",
      "/%75p/x",
      "/up%2fx",
      `/@${evil}/x`,
      "/../up/x",
      "/./up/x",
      "/\\up/x",
    ])
      expect([target, (await ask(port, get(port, target))).status]).toEqual([target, 404]);
    expect([upstream.requests.length, other.requests.length]).toEqual([before, 0]);
  });

  test("a route without a path asks for the root of its address", async () => {
    const upstream = await startUpstream(OK);
    const { port } = await openProxy({ routes: { up: upstream.origin, deep: `${upstream.origin}/api/` } });
    const lines = [
      ["/up", "/"],
      ["/up/", "/"],
      ["/up?a=1", "/?a=1"],
      ["/deep/v1/x?a", "/api/v1/x?a"],
      ["/deep?a=1", "/api?a=1"],
      ["/deep/../x", "/api/../x"],
    ] as const;
    for (const [target] of lines) await ask(port, get(port, target));
    expect(upstream.requests.map(({ start }) => start)).toEqual(
      lines.map(([, arrived]) => `GET ${arrived} HTTP/1.1`),
    );
  });

  test("an unknown route is told, with the names of those there are", async () => {
    const { proxy } = await both({ routes: { one: "http://127.0.0.1:9", two: "http://127.0.0.1:9" } });
    const got = await ask(proxy.port, get(proxy.port, "/three/v1/models"));
    expect([got.status, codeOf(got.body), got.body.toString()]).toEqual([
      404,
      "route_not_found",
      expect.stringMatching(/\/one.*\/two/),
    ]);
    expect(valuesOf(got.headers, "x-throughline-error")).toHaveLength(1);
  });
});

const upgrade = (port: number): Buffer =>
  get(port, "/up/v1/responses", [
    ["Connection", "Upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="],
    ["Sec-WebSocket-Version", "13"],
  ]);

describe("an upgrade", () => {
  test("is answered with 426 and how to do without", async () => {
    const { upstream, proxy } = await both();
    const got = await ask(proxy.port, upgrade(proxy.port));
    expect([got.status, codeOf(got.body), got.body.toString()]).toEqual([
      426,
      "upgrade_required",
      expect.stringContaining("supports_websockets = false"),
    ]);
    expect(upstream.requests).toEqual([]);
  });

  test("whose client resets the connection does not end the proxy", async () => {
    const upstream = await startUpstream(OK);
    const child = await startChildProxy({ options: { routes: { up: upstream.origin } } });
    for (let turn = 0; turn < 50; turn += 1) {
      const socket = connect({ host: "127.0.0.1", port: child.port }).on("error", () => undefined);
      await once(socket, "connect");
      await new Promise<void>((resolve) => socket.write(upgrade(child.port), () => resolve()));
      socket.resetAndDestroy();
    }
    expect((await ask(child.port, get(child.port, "/up/v1/models"))).status).toBe(200);
  });

  test("whose client keeps its half open does not keep the proxy from closing", async () => {
    const { proxy } = await both();
    const client = openClient(proxy.port, upgrade(proxy.port), () =>
      connect({ host: "127.0.0.1", port: proxy.port, allowHalfOpen: true }),
    );
    expect((await client.answer).status).toBe(426);
    const late = new Promise((resolve) => setTimeout(resolve, 20_000, "still open").unref());
    expect(await Promise.race([proxy.close(), late])).toBeUndefined();
  });
});

describe("a proxy with TLS", () => {
  test("serves the same, behind the same gate", async () => {
    const { upstream, proxy } = await both({ tls });
    const secure = (): Socket =>
      connectTls({ host: "127.0.0.1", port: proxy.port, rejectUnauthorized: false });
    expect(proxy.url).toBe(`https://127.0.0.1:${proxy.port}`);
    const good = await ask(
      proxy.port,
      requestTo(proxy.port, "/up/v1/responses", { body: '{"input":"a"}' }),
      secure,
    );
    const bad = await ask(proxy.port, get(proxy.port, "/up/v1/models", [["Host", "evil.example"]]), secure);
    const foreign = await ask(
      proxy.port,
      get(proxy.port, "/up/v1/models", [["Origin", "https://evil.example"]]),
      secure,
    );
    const plain = await ask(proxy.port, get(proxy.port, "/up/v1/models"));
    expect([good.status, bad.status, foreign.status, plain.status]).toEqual([200, 421, 403, 0]);
    expect(upstream.requests).toHaveLength(1);
  });

  test("knows its own origin", async () => {
    const { proxy } = await both({ tls });
    const secure = (): Socket =>
      connectTls({ host: "127.0.0.1", port: proxy.port, rejectUnauthorized: false });
    expect(
      (await ask(proxy.port, get(proxy.port, "/up/v1/models", [["Origin", proxy.url]]), secure)).status,
    ).toBe(200);
  });
});
