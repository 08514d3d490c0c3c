/** What balancers and monitoring ask a server on files. */

import { expect, test } from "vitest";

import { metricsText } from "../../src/access/server/metrics-text.ts";
import type { Metric } from "../../src/runtime/log/index.ts";
import { busy } from "./promise-fixture.ts";
import { ask, codeIn, rawSocket, served, servedAlone } from "./server-fixture.ts";

test("the probes answer without a token and under any name, show nothing, and take no body", async () => {
  const { server } = await servedAlone();
  for (const path of ["/healthz", "/readyz"]) {
    for (const host of ["10.0.0.7", "balancer.internal:8080", "127.0.0.1", `localhost:${server.port}`]) {
      const { status, text } = await ask(server, { path, bare: true, headers: { host } });
      expect([path, host, status, text]).toEqual([path, host, 200, '{"ok":true}']);
    }
    const head = await ask(server, { method: "HEAD", path, bare: true, headers: { host: "x" } });
    expect([head.status, head.text]).toEqual([200, ""]);
    // Nothing else is open under these names.
    for (const other of [
      `${path}/`,
      `${path}/x`,
      `/x${path}`,
      path.replace("z", "%7A"),
      "/",
      "/api/server",
    ]) {
      const answer = await ask(server, { path: other, bare: true, headers: { host: "10.0.0.7" } });
      expect([other, answer.status]).toEqual([other, 421]);
    }
    const posted = await ask(server, {
      method: "POST",
      path,
      body: "{}",
      bare: true,
      headers: { host: "10.0.0.7", "content-type": "application/json" },
    });
    expect(posted.status).toBe(421);
    const page = { host: "10.0.0.7", origin: "http://evil.example" };
    expect((await ask(server, { path, bare: true, headers: page })).status).toBe(403);
  }
});

test("a connection on which only probes were asked makes room like any stranger's", async () => {
  const { server } = await servedAlone({ server: { limits: { connections: 1 } } });
  const probing = await rawSocket(server);
  const closed = new Promise<void>((resolve) => {
    probing.on("close", () => resolve());
  });
  probing.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  await new Promise((resolve) => {
    probing.once("data", resolve);
  });
  expect((await ask(server, { path: "/api/server" })).status).toBe(200);
  await closed;
});

test("the metrics of a server on files have its connections, streams and turns, for the owner only", async () => {
  const { server, finish } = await busy();
  const stranger = await ask(server, {
    path: "/metrics",
    bare: true,
    headers: { host: `127.0.0.1:${server.port}` },
  });
  expect([stranger.status, codeIn(stranger)]).toEqual([401, "unauthorized"]);
  const { status, headers, text } = await ask(server, { path: "/metrics" });
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(text).toContain("\nthroughline_sessions_busy 1\n");
  expect(text).toContain("\nthroughline_streams_open 0\n");
  expect(text).toMatch(/^throughline_connections_open [1-9]/m);
  expect(text).not.toContain("throughline_lease");
  finish();
});

test("metrics are in the text format: help and type once per name, then samples; labels are escaped", async () => {
  const metrics: readonly Metric[] = [
    { type: "counter", name: "a_total", help: "One \\ and\nanother.", value: 3 },
    { type: "gauge", name: "b", help: "B.", value: 0.5, labels: { x: 'a"b\\c\nd' } },
    { type: "summary", name: "c_seconds", help: "C.", sum: 1.25, count: 4 },
  ];
  expect(metricsText(metrics)).toBe(
    String.raw`# HELP throughline_a_total One \\ and\nanother.
# TYPE throughline_a_total counter
throughline_a_total 3
# HELP throughline_b B.
# TYPE throughline_b gauge
throughline_b{x="a\"b\\c\nd"} 0.5
# HELP throughline_c_seconds C.
# TYPE throughline_c_seconds summary
throughline_c_seconds_sum 1.25
throughline_c_seconds_count 4
`,
  );
});

test("a link may give fewer rights than the server's token, in a browser and in a program", async () => {
  const { server } = await served();
  const host = `127.0.0.1:${server.port}`;
  const link = async (may: string): Promise<URL> => {
    const answer = await ask(server, { method: "POST", path: "/api/links", body: JSON.stringify({ may }) });
    return new URL((JSON.parse(answer.text) as { readonly link: string }).link);
  };
  for (const [may, write, metrics] of [
    ["read", 403, 403],
    ["write", 201, 403],
    ["admin", 201, 200],
  ] as const) {
    const { pathname, search } = await link(may);
    const login = await ask(server, { path: `${pathname}${search}`, bare: true, headers: { host } });
    const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";
    const { searchParams } = await link(may);
    const body = JSON.stringify({ code: searchParams.get("code") });
    const token = (
      JSON.parse((await ask(server, { method: "POST", path: "/api/login", body })).text) as {
        readonly token: string;
      }
    ).token;
    for (const headers of [
      { host, cookie, origin: `http://${host}` },
      { host, authorization: `Bearer ${token}` },
    ]) {
      const type = { "content-type": "application/json" };
      const made = await ask(server, {
        method: "POST",
        path: "/api/sessions",
        body: "{}",
        bare: true,
        headers: { ...headers, ...type },
      });
      const counted = await ask(server, { path: "/metrics", bare: true, headers });
      expect([may, made.status, counted.status]).toEqual([may, write, metrics]);
    }
  }
});
