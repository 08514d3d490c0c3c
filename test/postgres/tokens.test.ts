/** The table of tokens and login codes, as two nodes see it. */

import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import type { Grant, TokenTable } from "../../src/runtime/log/index.ts";
import { database, type Database } from "./fixture.ts";

const ALICE: Grant = { tenant: "acme", may: "write", name: "alice" };
const HOUR = 3_600_000;

function tokensOf(base: Database): TokenTable {
  const { shared } = base.store();
  if (shared === undefined) throw new Error("the store is not shared");
  return shared.tokens;
}

test("a token works on every node, and only its digest is kept", async () => {
  const base = await database();
  const [one, other] = [tokensOf(base), tokensOf(base)];
  const token = await one.add(ALICE, undefined);
  expect(token).toMatch(/^tl_[\w-]{43}$/);
  expect(await other.grantOf(token, "bearer")).toEqual(ALICE);
  const rows = await base.sql("select t::text as all, encode(digest, 'hex') as digest from s.tokens t");
  expect(rows.map(({ digest }) => digest)).toEqual([createHash("sha256").update(token).digest("hex")]);
  expect(JSON.stringify(rows)).not.toContain(token.slice(3));
});

test("a token is no cookie, and a cookie is no token", async () => {
  const tokens = tokensOf(await database());
  const keys = {
    token: await tokens.add(ALICE, undefined),
    browser: await tokens.addLogin(ALICE, "browser", HOUR),
    login: await tokens.addLogin(ALICE, "login", HOUR),
  };
  const accepted = await Promise.all(
    Object.entries(keys).map(async ([kind, key = ""]) => [
      kind,
      (await tokens.grantOf(key, "bearer")) !== undefined,
      (await tokens.grantOf(key, "cookie")) !== undefined,
    ]),
  );
  expect(accepted).toEqual([
    ["token", true, false],
    ["browser", false, true],
    ["login", true, false],
  ]);
});

test("unknown, malformed and expired keys open nothing", async () => {
  const base = await database();
  const tokens = tokensOf(base);
  const expired = await tokens.add({ ...ALICE, name: "old" }, 1);
  await base.sql("update s.tokens set expires_at = now() - interval '1 s' where name = 'old'");
  for (const key of [expired, `tl_${"A".repeat(43)}`, "", "tl_", `${expired}x`, "'; drop table s.tokens; --"])
    expect([key, await tokens.grantOf(key, "bearer")]).toEqual([key, undefined]);
  expect(await tokens.list()).toEqual([]);
});

test("a name is taken once, and free again when its token has expired", async () => {
  const base = await database();
  const tokens = tokensOf(base);
  const first = await tokens.add(ALICE, HOUR);
  await expect(tokens.add({ ...ALICE, tenant: "other" }, HOUR)).rejects.toMatchObject({
    code: "token_exists",
  });
  expect(await tokens.grantOf(first, "bearer")).toEqual(ALICE);
  await base.sql("update s.tokens set expires_at = now()");
  const second = await tokens.add({ ...ALICE, may: "read" }, HOUR);
  expect(await tokensOf(base).grantOf(second, "bearer")).toEqual({ ...ALICE, may: "read" });
  expect(await tokensOf(base).grantOf(first, "bearer")).toBeUndefined();
});

test("removing a token removes the browsers and the unused links that came from it, and nothing else", async () => {
  const base = await database();
  const tokens = tokensOf(base);
  const token = await tokens.add(ALICE, undefined);
  const cookie = await tokens.addLogin(ALICE, "browser", HOUR);
  const code = await tokens.addCode(ALICE, HOUR);
  const other = await tokens.add({ ...ALICE, name: "bob" }, undefined);
  expect((await tokens.list()).map(({ name, kind, may, tenant }) => [name, kind, may, tenant])).toEqual([
    ["alice", "token", "write", "acme"],
    ["alice", "browser", "write", "acme"],
    ["bob", "token", "write", "acme"],
  ]);
  expect([await tokens.remove("alice"), await tokens.remove("alice")]).toEqual([true, false]);
  expect(await tokens.grantOf(token, "bearer")).toBeUndefined();
  expect(await tokens.grantOf(cookie ?? "", "cookie")).toBeUndefined();
  expect(await tokens.redeemCode(code)).toBeUndefined();
  expect(await tokens.grantOf(other, "bearer")).toMatchObject({ name: "bob" });
});

test("of many nodes that redeem one code at once, exactly one gets it", async () => {
  const base = await database();
  const nodes = Array.from({ length: 4 }, () => tokensOf(base));
  const code = await (nodes[0] as TokenTable).addCode(ALICE, HOUR);
  const got = await Promise.all(nodes.flatMap((node) => [node.redeemCode(code), node.redeemCode(code)]));
  expect(got.filter((grant) => grant !== undefined)).toEqual([ALICE]);
  expect(await base.sql("select 1 from s.login_codes")).toEqual([]);
});

test("a code is no token, a token is no code, and an expired code opens nothing", async () => {
  const base = await database();
  const tokens = tokensOf(base);
  const code = await tokens.addCode(ALICE, HOUR);
  expect(await tokens.grantOf(code, "bearer")).toBeUndefined();
  expect(await tokens.redeemCode(await tokens.add(ALICE, undefined))).toBeUndefined();
  await base.sql("update s.login_codes set expires_at = now()");
  expect(await tokens.redeemCode(code)).toBeUndefined();
});

test("a thousand wrong keys at once cost a few statements, and a right one among them works", async () => {
  const { connections, tokens } = (await database()).engine();
  const token = await tokens.add(ALICE, undefined);
  const wrong = Array.from({ length: 1000 }, (_, n) => `tl_${String(n).padStart(43, "x")}`);
  const read = connections.read.bind(connections);
  let statements = 0;
  connections.read = (...given) => {
    statements += 1;
    return read(...given);
  };
  const answers = await Promise.all([...wrong, token].map((key) => tokens.grantOf(key, "bearer")));
  expect(answers.filter((grant) => grant !== undefined)).toEqual([ALICE]);
  expect(statements).toBeLessThan(5);
});

test("a login expires with its token, and there is none for a token that is gone", async () => {
  const base = await database();
  const tokens = tokensOf(base);
  await tokens.add(ALICE, HOUR);
  await tokens.addLogin(ALICE, "browser", 24 * HOUR);
  const [token, browser] = await tokens.list();
  expect(Math.abs((browser?.expiresAt ?? 0) - (token?.expiresAt ?? 1))).toBeLessThan(1);
  await tokens.remove("alice");
  expect(await tokens.addLogin(ALICE, "browser", HOUR)).toBeUndefined();
});
