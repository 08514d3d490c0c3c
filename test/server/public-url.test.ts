/** A server behind a proxy: which names and origins it accepts, and what its cookie looks like. */

import { expect, test } from "vitest";

import type { RunningServer } from "../../src/access/server/index.ts";
import { startServer } from "../../src/access/server/index.ts";
import { createAgent, emulator, memoryStore } from "../../src/index.ts";
import { ask, servedAlone } from "./server-fixture.ts";

async function behind(publicUrl: string): Promise<RunningServer> {
  return (await servedAlone({ server: { publicUrl } })).server;
}

async function statusOf(server: RunningServer, headers: Record<string, string>): Promise<number> {
  return (await ask(server, { method: "POST", path: "/api/sessions", body: "{}", headers })).status;
}

test("Host and Origin may be exactly the public address or the server's own, scheme included", async () => {
  const server = await behind("https://agents.example");
  const own = `127.0.0.1:${server.port}`;
  const accepted = [
    { host: "agents.example" },
    { host: "AGENTS.example" },
    { host: "agents.example", origin: "https://agents.example" },
    { host: own },
    { host: own, origin: `http://${own}` },
    // A proxy may replace the Host by the address it connects to.
    { host: own, origin: "https://agents.example" },
  ];
  for (const headers of accepted) expect([headers, await statusOf(server, headers)]).toEqual([headers, 201]);
  const hosts = [
    "agents.example:443",
    "agents.example:80",
    "www.agents.example",
    "agents.example.evil.com",
    "example",
  ];
  for (const host of hosts) expect([host, await statusOf(server, { host })]).toEqual([host, 421]);
  const origins = [
    "http://agents.example",
    "https://agents.example:8443",
    "https://agents.example.evil.com",
    "https://agents.example/",
    "https://evil.com",
    "null",
  ];
  for (const host of ["agents.example", own])
    for (const origin of origins)
      expect([host, origin, await statusOf(server, { host, origin })]).toEqual([host, origin, 403]);
  expect(await statusOf(server, { host: "agents.example", origin: `http://${own}` })).toBe(403);
});

test("links lead to the public address, and the cookie has one name behind it and is Secure if it is https", async () => {
  for (const [publicUrl, rules] of [
    ["https://agents.example", "Path=/; HttpOnly; SameSite=Strict; Secure"],
    ["https://agents.example/", "Path=/; HttpOnly; SameSite=Strict; Secure"],
    ["http://agents.example:8080", "Path=/; HttpOnly; SameSite=Strict"],
  ] as const) {
    const server = await behind(publicUrl);
    const link = new URL(await server.newLink());
    expect(link.origin).toBe(new URL(publicUrl).origin);
    const { host } = link;
    const login = await ask(server, {
      path: `${link.pathname}${link.search}`,
      bare: true,
      headers: { host },
    });
    const [value = "", ...attributes] = String(login.headers["set-cookie"]).split("; ");
    expect([value.split("=")[0], attributes.join("; ")]).toEqual(["throughline", rules]);
    const headers = { host, cookie: value };
    expect((await ask(server, { path: "/api/sessions", bare: true, headers })).status).toBe(200);
    // The name that a server without a public address would use means nothing here.
    const other = { host, cookie: value.replace("throughline", `throughline_${server.port}`) };
    expect((await ask(server, { path: "/api/sessions", bare: true, headers: other })).status).toBe(401);
  }
});

test("a public address must be an origin and nothing more", async () => {
  const agent = createAgent({ model: emulator() });
  for (const publicUrl of [
    "agents.example",
    "https://agents.example/app",
    "https://agents.example/?x",
    "https://agents.example/#x",
    "https://user:pass@agents.example",
    "ftp://agents.example",
    "javascript:alert(1)",
    "",
  ])
    await expect(startServer({ agent, store: memoryStore(), port: 0, publicUrl })).rejects.toMatchObject({
      code: "options_invalid",
    });
});
