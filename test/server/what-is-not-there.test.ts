/** Keys and ids that cannot be guessed, and addresses that lead nowhere: W02, W18, W21, W22. */

import { expect, test } from "vitest";

import { ask, codeIn, served } from "./server-fixture.ts";

test("the token and every link hold 256 random bits, and a link never holds the token", async () => {
  const servers = await Promise.all([served(), served()]);
  const links = await Promise.all(servers.flatMap(({ server }) => [server.newLink(), server.newLink()]));
  const codes = links.map((link) => new URL(link).searchParams.get("code") ?? "");
  const keys = [...servers.map(({ server }) => server.token), ...codes];
  expect(new Set(keys).size).toBe(6);
  for (const key of keys) expect(Buffer.from(key, "base64url").length).toBe(32);
});

test("nothing a client sends can choose the host that a request goes to", async () => {
  const parts = await served();
  await ask(parts.server, { method: "POST", path: "/api/sessions", body: '{"id":"s1"}' });
  const post = async (route: string, body: object): Promise<unknown> => {
    const path = `/api/sessions/s1/${route}`;
    return codeIn(await ask(parts.server, { method: "POST", path, body: JSON.stringify(body) }));
  };
  for (const name of ["baseUrl", "base_url", "url", "headers", "apiKey", "provider", "profile"])
    expect(await post("turns", { input: "x", [name]: "http://169.254.169.254/" })).toBe("field_unknown");
  for (const model of [
    "http://169.254.169.254/v1",
    "test/x@http://evil",
    "//evil/x",
    "../x",
    "test/emu\r\nx: y",
  ]) {
    expect(await post("turns", { input: "x", model })).toBe("model_invalid");
    expect(await post("model", { model })).toBe("model_invalid");
  }
  expect(parts.emulator.report().requests).toEqual([]);
});

test("session ids cannot be guessed", async () => {
  const { server } = await served();
  const ids = new Set<string>();
  for (let n = 0; n < 50; n += 1) {
    const { text } = await ask(server, { method: "POST", path: "/api/sessions", body: "{}" });
    ids.add((JSON.parse(text) as { readonly id: string }).id);
  }
  expect(ids.size).toBe(50);
  // Two ids of the same moment share the time; the rest is random.
  const tails = [...ids].map((id) => id.slice(-12));
  expect(new Set(tails).size).toBe(50);
  for (const id of ids) expect(id).toMatch(/^s_[\da-z]{20,}$/);
});

test("no route reaches the emulator or any developer tools", async () => {
  const { server } = await served();
  for (const path of [
    "/__emulator/report",
    "/v1/responses",
    "/debug",
    "/debug/pprof",
    "/json",
    "/.env",
    "/src/index.ts",
    "/@vite/client",
    "/package.json",
    "/api",
    "/api/debug",
    "/api/emulator",
  ])
    expect([path, (await ask(server, { path })).status]).toEqual([path, 404]);
  expect(server.routes.filter(({ path }) => /debug|emulator|test|dev/i.test(path))).toEqual([]);
});
