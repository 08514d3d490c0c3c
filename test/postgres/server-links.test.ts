/** Links, cookies and logins on several nodes: each works on every node, and a link only once among all of them. */

import { expect, test } from "vitest";

import { forgetLinksOf, newLinkTo } from "../../src/access/server/index.ts";
import { type Answer, ask, codeIn } from "../server/server-fixture.ts";
import { database } from "./fixture.ts";
import {
  askAs,
  browse,
  cookieIn,
  bodyOf,
  idsIn,
  newToken,
  node,
  OWN,
  type Server,
  tokensOf,
} from "./server-fixture.ts";

const PUBLIC = "http://agents.example:8080";

/** Two nodes behind one name, which have the same cookie name for that reason. */
async function twoNodes(): Promise<readonly [Server, Server]> {
  const db = await database();
  const server = { publicUrl: PUBLIC };
  return [await node(db, "a", { server }), await node(db, "b", { server })];
}

async function linkOf(one: Server, token: string, body: object = {}): Promise<URL> {
  const answer = await askAs(one, token, "/api/links", body);
  expect(answer.status).toBe(201);
  return new URL(String(bodyOf(answer)["link"]));
}

const open = (one: Server, link: URL): Promise<Answer> =>
  browse(one, undefined, `${link.pathname}${link.search}`);

test("a link of any node logs one browser in on any other, once, and its cookie works on all of them", async () => {
  const [one, other] = await twoNodes();
  for (const token of [OWN, await newToken(one, "acme", "admin")]) {
    const link = await linkOf(one, token);
    expect(link.origin).toBe(PUBLIC);
    const [first, second] = await Promise.all([open(other, link), open(one, link)]);
    expect(new Set([first.status, second.status])).toEqual(new Set([200, 401]));
    const cookie = cookieIn(first) ?? cookieIn(second);
    expect(cookie).toMatch(/^throughline=/);
    for (const server of [one, other]) {
      expect((await browse(server, cookie, "/api/sessions")).status).toBe(200);
      expect((await open(server, link)).status).toBe(401);
      expect((await browse(server, cookie, `${link.pathname}${link.search}`)).status).toBe(200); // leads to the page
    }
    // Its value is no bearer token.
    expect((await askAs(one, cookie?.split("=")[1] ?? "", "/api/sessions")).status).toBe(401);
  }
});

test("a browser gets the tenant and at most the right of the link's token", async () => {
  const [one, other] = await twoNodes();
  const acme = await newToken(one, "acme", "admin");
  await askAs(one, acme, "/api/sessions", { id: "ours" });
  await askAs(one, OWN, "/api/sessions", { id: "owners" });
  const rights: unknown[] = [];
  for (const token of [acme, OWN])
    for (const may of ["read", "write", "admin"] as const) {
      const cookie = cookieIn(await open(other, await linkOf(one, token, { may })));
      const listed = idsIn(await browse(other, cookie, "/api/sessions"));
      rights.push([
        listed.join(" "),
        may,
        (await browse(other, cookie, "/api/sessions/none/title", { title: "x" })).status,
        (await browse(one, cookie, "/metrics")).status,
      ]);
    }
  expect(rights).toEqual([
    ["ours", "read", 403, 403],
    ["ours", "write", 404, 403],
    ["ours", "admin", 404, 403],
    ["owners", "read", 403, 403],
    ["owners", "write", 404, 403],
    ["owners", "admin", 404, 200],
  ]);
  const wrong = await askAs(one, acme, "/api/links", { may: "everything" });
  expect([wrong.status, codeIn(wrong)]).toEqual([400, "field_invalid"]);
});

test("a program with a link gets a token of its own, with the tenant and the right of the link", async () => {
  const [one, other] = await twoNodes();
  const acme = await newToken(one, "acme", "admin");
  for (const [token, may] of [[acme, "read"] as const, [OWN, "read"] as const]) {
    const code = (await linkOf(one, token, { may })).searchParams.get("code") ?? "";
    const login = await askAs(other, "", "/api/login", { code });
    const own = String(bodyOf(login)["token"]);
    expect([acme, OWN]).not.toContain(own);
    expect((await askAs(one, own, "/api/sessions")).status).toBe(200);
    expect(codeIn(await askAs(one, own, "/api/sessions", {}))).toBe("right_missing");
    expect(codeIn(await askAs(one, "", "/api/login", { code }))).toBe("code_used");
  }
  const code = (await linkOf(one, OWN)).searchParams.get("code") ?? "";
  expect(bodyOf(await askAs(other, "", "/api/login", { code }))).toEqual({ token: OWN });
});

test("whoever logged in by a token's link is shut out with it", async () => {
  const [one, other] = await twoNodes();
  const acme = await newToken(one, "acme", "admin");
  const cookie = cookieIn(await open(one, await linkOf(one, acme)));
  const unused = await linkOf(one, acme);
  expect((await browse(one, cookie, "/api/sessions")).status).toBe(200);
  await tokensOf(one).remove("acme-admin");
  expect((await browse(one, cookie, "/api/sessions")).status).toBe(401);
  expect((await browse(other, cookie, "/api/sessions")).status).toBe(401);
  expect((await open(other, unused)).status).toBe(401);
});

test("neither a key nor a code is in the database in a form that can be used", async () => {
  const db = await database();
  const one = await node(db, "a");
  const acme = await newToken(one, "acme", "admin");
  const code = (await linkOf(one, acme)).searchParams.get("code") ?? "";
  const cookie = cookieIn(await open(one, await linkOf(one, acme)))?.split("=")[1] ?? "";
  const rows = await db.sql(
    "select t::text as row from s.tokens t union all select c::text from s.login_codes c",
  );
  expect(rows.length).toBe(3);
  for (const key of [acme, code, cookie]) {
    expect(key).toMatch(/^tl_[\w-]{43}$/);
    const forms = [key, key.slice(3), Buffer.from(key.slice(3), "base64url").toString("hex")];
    for (const form of forms) expect(JSON.stringify(rows)).not.toContain(form);
  }
});

test("a link of a node with a public address leads there, and a wrong one is refused there as elsewhere", async () => {
  const [one] = await twoNodes();
  expect(new URL(await one.server.newLink()).origin).toBe(PUBLIC);
  const answer = await ask(one.server, {
    path: "/login?code=tl_" + "x".repeat(43),
    bare: true,
    headers: { host: "agents.example:8080" },
  });
  expect(answer.status).toBe(401);
});

test("a link of another server on the same store, with its own token or tenant, opens nothing", async () => {
  const db = await database();
  const one = await node(db, "a");
  const others = [
    await node(db, "b", { server: { token: "another-token-of-a-server-on-this-store" } }),
    await node(db, "c", {}, { tenant: "acme" }),
  ];
  for (const other of others) {
    expect((await open(other, await linkOf(one, OWN))).status).toBe(401);
    const code = (await linkOf(one, OWN)).searchParams.get("code") ?? "";
    const login = await ask(other.server, {
      method: "POST",
      path: "/api/login",
      body: JSON.stringify({ code }),
    });
    expect(login.status).toBe(401);
  }
});

test("a link gives nothing any more when its token has expired and its name has another tenant or right", async () => {
  const db = await database();
  const server = { publicUrl: PUBLIC };
  const [one, two] = [await node(db, "a", { server }), await node(db, "b", { server })];
  const alice = await tokensOf(one).add({ tenant: "acme", may: "admin", name: "alice" }, undefined);
  const [before, cookie] = [await linkOf(one, alice), cookieIn(await open(one, await linkOf(one, alice)))];
  expect((await browse(two, cookie, "/api/sessions")).status).toBe(200);
  await db.sql("update s.tokens set expires_at = now() - interval '1 s' where kind = 'token'");
  await tokensOf(two).add({ tenant: "globex", may: "read", name: "alice" }, undefined);
  expect((await open(one, before)).status).toBe(401);
  await expect.poll(async () => (await browse(two, cookie, "/api/sessions")).status).toBe(401);
});

test("the browsers of a server without a token of its own stay logged in after a restart, on every node", async () => {
  const db = await database();
  const server = { publicUrl: PUBLIC, token: undefined };
  const first = await node(db, "a", { server });
  const link = new URL(await first.server.newLink());
  const cookie = cookieIn(await open(first, link));
  await first.server.close();
  const [again, other] = [await node(db, "a2", { server }), await node(db, "b", { server })];
  for (const one of [again, other]) {
    expect((await browse(one, cookie, "/api/sessions")).status).toBe(200);
    expect((await browse(one, cookie, "/metrics")).status).toBe(200);
    expect((await open(one, link)).status).toBe(401);
  }
  const made = new URL(await newLinkTo({ url: PUBLIC, store: other.store }));
  expect(cookieIn(await open(again, made))).toMatch(/^throughline=/);
  await forgetLinksOf({ url: PUBLIC, store: other.store });
  await expect.poll(async () => (await browse(again, cookie, "/api/sessions")).status).toBe(401);
  expect(cookieIn(await open(other, new URL(await again.server.newLink())))).toMatch(/^throughline=/);
});
