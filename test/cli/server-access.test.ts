/** How `serve` gets its token and its public address, and what `health` says about a server. */

import { chmodSync } from "node:fs";

import { expect, test } from "vitest";

import {
  asOrdinaryUser,
  expectProblem,
  newPlace,
  type Place,
  run,
  type Running,
  serverOf,
  start,
} from "./harness.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";

async function serving(
  place: Place,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Running & { readonly url: string }> {
  const server = start(place, ["serve", "--port", "0", ...args], { env });
  await server.seen(({ err }) => err.includes("Throughline serves"), "a welcome");
  const url = /Throughline serves (\S+)\./.exec(server.err)?.[1] ?? "";
  return Object.assign(server, { url });
}

test("serve and --server take the token from the file that THROUGHLINE_TOKEN_FILE names", async () => {
  const place = newPlace();
  const env = { THROUGHLINE_TOKEN_FILE: place.write("token", `${TOKEN}\n`) };
  const { url } = await serving(place, [], env);
  const status = async (token: string): Promise<number> =>
    (await fetch(`${url}/api/server`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect([await status(TOKEN), await status(`${TOKEN}x`)]).toEqual([200, 401]);
  const listed = await run(place, ["sessions", "list", "--json", "--server", url], { env });
  expect(listed).toMatchObject({ code: 0, out: "[]\n" });
});

test("a token file that is missing, empty, unreadable, weak or not alone is refused without showing it", async () => {
  const place = newPlace();
  const locked = place.write("locked", TOKEN);
  chmodSync(locked, 0);
  const serve = (env: Readonly<Record<string, string>>, uid = {}) =>
    run(place, ["serve", "--port", "0"], { env, ...uid });
  expectProblem(await serve({ THROUGHLINE_TOKEN_FILE: "/nowhere/token" }), 2, "file_unreadable");
  expectProblem(await serve({ THROUGHLINE_TOKEN_FILE: place.write("empty", "\n") }), 2, "file_unreadable");
  const weak = await serve({ THROUGHLINE_TOKEN_FILE: place.write("weak", "secret-but-short") });
  expectProblem(weak, 2, "token_weak");
  expect(weak.err).not.toContain("secret-but-short");
  const file = place.write("good", TOKEN);
  const both = await serve({ THROUGHLINE_TOKEN_FILE: file, THROUGHLINE_TOKEN: TOKEN });
  expectProblem(both, 2, "usage");
  expect(both.err).not.toContain(TOKEN);
  expectProblem(await serve({ THROUGHLINE_TOKEN_FILE: locked }, asOrdinaryUser(place)), 2, "file_unreadable");
});

test("serve --public-url prints a link there, and takes nothing but an origin", async () => {
  const place = newPlace();
  const server = await serving(place, ["--public-url", "https://agents.example/"]);
  expect(server.out).toMatch(/^https:\/\/agents\.example\/login\?code=\S+\n$/);
  for (const url of [
    "agents.example",
    "https://agents.example/app",
    "ftp://x",
    "https://u:secret@x.example",
  ]) {
    const ran = await run(place, ["serve", "--port", "0", "--public-url", url]);
    expectProblem(ran, 2, "server_url_invalid");
    expect(ran.err).not.toContain("secret");
  }
});

test("health exits with 0 for a server that works, and with 1 and a reason for anything else", async () => {
  const place = newPlace();
  const server = await serving(place);
  const health = (url: string) => run(place, ["health", "--url", url]);
  expect(await health(server.url)).toMatchObject({ code: 0, out: "ready\n", err: "" });
  const draining = await serverOf((_request, response) => {
    response.writeHead(503).end('{"ok":false,"why":"draining"}');
  });
  expect(await health(draining)).toMatchObject({
    code: 1,
    out: "",
    err: "not ready: it is stopping (draining)\n",
  });
  const other = await serverOf((_request, response) => response.end("<html>"));
  expect((await health(other)).err).toMatch(
    /^not ready: http:\/\/127\.0\.0\.1:\d+ is no throughline server\n$/,
  );
  server.kill("SIGTERM");
  await server.ended;
  const gone = await health(server.url);
  expect([gone.code, gone.err]).toEqual([1, `not ready: no server answers at ${server.url}\n`]);
  for (const url of ["nonsense", "http://user:secret@127.0.0.1:1"]) {
    const ran = await health(url);
    expectProblem(ran, 2, "server_url_invalid");
    expect(ran.err).not.toContain("secret");
  }
});
