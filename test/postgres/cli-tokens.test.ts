/** `throughline tokens`, and a server that accepts what it made. */

import { expect, test } from "vitest";

import { expectProblem, run, start } from "../cli/harness.ts";
import { good, storePlace } from "./cli-fixture.ts";

const DAY = 86_400_000;

test("a token is printed once, listed without itself, accepted by a server, and gone when it is removed", async () => {
  const { place, env, on } = await storePlace();
  const made = await good(on(["tokens", "add", "alice", "--tenant", "acme", "--may", "read"]));
  const token = made.out.trim();
  expect(token).toMatch(/^tl_[\w-]{43}$/);
  expect(made.err).toBe(
    "alice may read the sessions of tenant acme. This token is shown only now: keep it safe\n",
  );
  await good(on(["tokens", "add", "bob", "--expires", "never", "--may", "admin"]));
  const shown = (await good(on(["tokens", "list"]))).out;
  expect(shown.split("\n").map((line) => line.split(/ {2,}/))).toMatchObject([
    ["name", "tenant", "may", "kind", "expires"],
    ["alice", "acme", "read", "token", expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d$/)],
    ["bob", "-", "admin", "token", "never"],
    [""],
  ]);
  const listed = JSON.parse((await good(on(["tokens", "list", "--json"]))).out) as readonly {
    readonly name: string;
    readonly expiresAt: string | null;
  }[];
  expect(listed.map(({ name }) => name)).toEqual(["alice", "bob"]);
  const [alice, bob] = listed;
  expect(Date.parse(alice?.expiresAt ?? "") - Date.now()).toBeGreaterThan(89 * DAY);
  expect(bob?.expiresAt).toBeNull();
  expect(shown + JSON.stringify(listed)).not.toContain(token.slice(3, 12));

  const server = start(place, ["serve", "--port", "0"], { env });
  await server.seen(({ err }) => err.includes("Throughline serves"), "a welcome");
  const url = /Throughline serves (\S+)\./.exec(server.err)?.[1] ?? "";
  const status = async (method = "GET"): Promise<number> =>
    (
      await fetch(`${url}/api/sessions`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(method === "GET" ? {} : { body: "{}" }),
      })
    ).status;
  expect([await status(), await status("POST")]).toEqual([200, 403]);
  expect((await good(run(place, ["health", "--url", url]))).out).toBe("ready\n");
  expect((await good(on(["tokens", "rm", "alice"]))).out).toBe(
    "removed alice: it stops working on every server within 3 seconds\n",
  );
  while ((await status()) !== 401);
  server.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
});

test("bad names, rights, ages and stores are refused with a reason", async () => {
  const { place, on } = await storePlace();
  await good(on(["tokens", "add", "alice"]));
  expectProblem(await on(["tokens", "add", "alice"]), 2, "token_exists");
  expectProblem(await on(["tokens", "rm", "carol"]), 2, "token_not_found");
  for (const args of [
    ["", "--may", "read"],
    ["-x"],
    ["a b"],
    ["browser:alice"],
    ["x".repeat(65)],
    ["ok", "--tenant", ""],
    ["ok", "--tenant", "a b"],
    ["ok", "--may", "root"],
    [],
  ])
    expectProblem(await on(["tokens", "add", ...args]), 2, "usage");
  for (const age of ["90", "0d", "-1d", "soon", ""])
    expectProblem(await on(["tokens", "add", "ok", `--expires=${age}`]), 2, "number_invalid");
  expectProblem(await run(place, ["tokens", "list"]), 2, "usage");
  expect((await good(on(["tokens", "list", "--json"]))).out).toContain("alice");
});

test("an empty list says how to make a token", async () => {
  const { on } = await storePlace();
  const ran = await good(on(["tokens", "list"]));
  expect([ran.out, ran.err]).toEqual(["", "there are no tokens yet: throughline tokens add\n"]);
});
