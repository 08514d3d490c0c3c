/** Tokens with tenants and rights: whose sessions a request reaches, and what it may do there. */

import { expect, test } from "vitest";

import { ask, codeIn } from "../server/server-fixture.ts";
import { database } from "./fixture.ts";
import { movable, shared } from "./nodes.ts";
import { askAs, idsIn, newToken, node, OWN, type Server, tokensOf, resultIn } from "./server-fixture.ts";

async function say(server: Server, token: string, input: string, id = "s1"): Promise<string> {
  const sent = await askAs(server, token, `/api/sessions/${id}/turns`, { input, turn: `tn_${input}` });
  expect([sent.status, sent.text]).toMatchObject([202, expect.any(String)]);
  const done = await askAs(server, token, `/api/sessions/${id}/turns/tn_${input}?wait=30`);
  return String(resultIn(done));
}

test("two tenants and the owner have a session of the same name, and each sees, exports and removes only its own", async () => {
  const one = await node(await database(), "a");
  const tokens = [OWN, await newToken(one, "acme", "write"), await newToken(one, "best", "write")] as const;
  const secrets = ["owners", "acmes", "bests"] as const;
  for (const [index, token] of tokens.entries()) {
    expect((await askAs(one, token, "/api/sessions", { id: "s1" })).status).toBe(201);
    await say(one, token, secrets[index] ?? "");
  }
  for (const [index, token] of tokens.entries()) {
    const own = secrets[index] ?? "";
    expect(idsIn(await askAs(one, token, "/api/sessions"))).toEqual(["s1"]);
    for (const path of ["log", "export", "events", "requests/1", "preview"]) {
      const { text, status } = await askAs(one, token, `/api/sessions/s1/${path}`);
      expect([path, status]).toEqual([path, 200]);
      if (path !== "events") expect([path, text.includes(own)]).toEqual([path, true]);
      for (const other of secrets.filter((secret) => secret !== own)) expect(text).not.toContain(other);
    }
  }
  expect((await askAs(one, tokens[1], "/api/sessions/s1", undefined, "DELETE")).status).toBe(200);
  expect(idsIn(await askAs(one, tokens[1], "/api/sessions"))).toEqual([]);
  expect(idsIn(await askAs(one, tokens[2], "/api/sessions"))).toEqual(["s1"]);
  expect(idsIn(await askAs(one, OWN, "/api/sessions"))).toEqual(["s1"]);
});

test("nothing in a request can name another tenant", async () => {
  const one = await node(await database(), "a");
  const [acme, best] = [await newToken(one, "acme", "admin"), await newToken(one, "best", "write")];
  await askAs(one, best, "/api/sessions", { id: "theirs" });
  expect((await askAs(one, acme, "/api/sessions/theirs")).status).toBe(404);
  expect(codeIn(await askAs(one, acme, "/api/sessions?tenant=best"))).toBe("parameter_invalid");
  expect(codeIn(await askAs(one, acme, "/api/sessions", { tenant: "best" }))).toBe("field_unknown");
  expect(codeIn(await askAs(one, acme, "/api/links", { tenant: "best" }))).toBe("field_unknown");
  for (const name of ["tenant", "x-tenant", "x-throughline-tenant"]) {
    const headers = { [name]: "best" };
    const answer = await ask(
      { port: one.server.port, token: acme },
      { path: "/api/sessions/theirs", headers },
    );
    expect([name, answer.status]).toEqual([name, 404]);
  }
});

/** Which right of a tenant's token opens a route. None opens the metrics, which count all tenants. */
const opens = (right: string, method: string, path: string): boolean => {
  if (path === "/metrics") return false;
  if (path === "/api/links") return right === "admin";
  return right !== "read" || method === "GET" || method === "HEAD";
};

test("a right opens exactly its routes, for every route and every right", async () => {
  const one = await node(await database(), "a", { server: { limits: { wrongKeys: 1e6 } } });
  const tokens = {
    read: await newToken(one, "acme", "read"),
    write: await newToken(one, "acme", "write"),
    admin: await newToken(one, "acme", "admin"),
  };
  await askAs(one, tokens.write, "/api/sessions", { id: "s1" });
  const wrong: unknown[] = [];
  for (const { method, path } of one.server.routes) {
    if (path.endsWith("login")) continue;
    // A session of another name, so that nothing is changed.
    const address = path.replace(":id", "none").replaceAll(/:\w+/g, "1");
    for (const [right, token] of Object.entries(tokens)) {
      const { status } = await askAs(one, token, address, method === "GET" ? undefined : {}, method);
      if ((status === 403) === opens(right, method, path)) wrong.push([right, method, path, status]);
    }
  }
  expect(wrong).toEqual([]);
  // The router decodes an address before it looks for its route.
  expect((await askAs(one, tokens.read, "/%6Detrics")).status).not.toBe(200);
  expect((await askAs(one, tokens.write, "/api/%6Cinks", {})).status).not.toBe(201);
  expect(codeIn(await askAs(one, tokens.read, "/api/sessions", {}))).toBe("right_missing");
});

test("a token that another node removes or that expires stops working within three seconds, without a restart", async () => {
  const db = await database();
  const clock = movable();
  const [one, other] = [await node(db, "a", {}, { clock }), await node(db, "b")];
  const token = await newToken(other, "acme", "read");
  expect((await askAs(one, token, "/api/sessions")).status).toBe(200);
  await tokensOf(other).remove("acme-read");
  clock.ahead += 3001;
  expect((await askAs(one, token, "/api/sessions")).status).toBe(401);

  const brief = await tokensOf(other).add({ tenant: "acme", may: "read", name: "brief" }, 3_600_000);
  expect((await askAs(one, brief, "/api/sessions")).status).toBe(200);
  await db.sql("update s.tokens set expires_at = now() where name = 'brief'");
  clock.ahead += 3001;
  expect((await askAs(one, brief, "/api/sessions")).status).toBe(401);
});

test("the open streams of a removed token end; those of others and of the owner go on", async () => {
  const one = await node(await database(), "a", { server: { limits: { recheckMs: 20 } } });
  const [gone, stays] = [await newToken(one, "acme", "read"), await newToken(one, "acme", "write")];
  await askAs(one, stays, "/api/sessions", { id: "s1" });
  await askAs(one, OWN, "/api/sessions", { id: "s1" });
  const open = async (token: string): Promise<ReadableStreamDefaultReader<Uint8Array>> => {
    const { body } = await fetch(`${one.server.url}/api/sessions/s1/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return (body as ReadableStream<Uint8Array>).getReader();
  };
  const streams = await Promise.all([gone, stays, OWN].map(open));
  expect(one.server.counters.open).toBe(3);
  await tokensOf(one).remove("acme-read");
  const [first, ...others] = streams;
  await expect(
    (async () => {
      while ((await first?.read())?.done !== true);
    })(),
  ).rejects.toThrow();
  expect((await askAs(one, stays, "/api/sessions")).status).toBe(200);
  expect(one.server.counters.open).toBe(2);
  for (const stream of others) await stream.cancel();
});

test("unknown and malformed tokens are refused and counted like any wrong key", async () => {
  const one = await node(await database(), "a", { server: { limits: { wrongKeys: 3 } } });
  const wrong = [`tl_${"A".repeat(43)}`, "tl_x", `tl_${"A".repeat(42)}!`, `tl_${"B".repeat(43)}`];
  const statuses: number[] = [];
  for (const token of wrong) statuses.push((await askAs(one, token, "/api/sessions")).status);
  expect(statuses).toEqual([401, 401, 401, 429]);
  const right = await newToken(one, "acme", "read");
  expect((await askAs(one, right, "/api/sessions")).status).toBe(200);
});

test("the limits of a tenant are its own: turns at once, sessions and bytes, each with 429", async () => {
  const limits = { tenantTurns: 0, tenantSessions: 2, tenantBytes: 1e6 };
  const one = await node(await database(), "a", { server: { limits } });
  const [acme, best] = [await newToken(one, "acme", "write"), await newToken(one, "best", "write")];
  const make = async (token: string): Promise<readonly unknown[]> => {
    const answer = await askAs(one, token, "/api/sessions", {});
    return [answer.status, codeIn(answer)];
  };
  expect([await make(acme), await make(acme), await make(acme), await make(best)]).toEqual([
    [201, undefined],
    [201, undefined],
    [429, "tenant_full"],
    [201, undefined],
  ]);
  const [id = ""] = idsIn(await askAs(one, acme, "/api/sessions"));
  const fork = await askAs(one, acme, `/api/sessions/${id}/fork`, {});
  expect([fork.status, codeIn(fork)]).toEqual([429, "tenant_full"]);
  const turn = await askAs(one, acme, `/api/sessions/${id}/turns`, { input: "Hi" });
  expect([turn.status, codeIn(turn)]).toEqual([429, "too_many_turns"]);
});

test("no turn begins in a tenant whose logs have as many bytes as it may have", async () => {
  const one = await node(await database(), "a", { server: { limits: { tenantBytes: 500 } } });
  const acme = await newToken(one, "acme", "write");
  await askAs(one, acme, "/api/sessions", { id: "s1" });
  expect(await say(one, acme, "first")).toBe("Here is a.");
  const full = await askAs(one, acme, "/api/sessions/s1/turns", { input: "second" });
  expect([full.status, codeIn(full)]).toEqual([429, "tenant_full"]);
  expect(codeIn(await askAs(one, acme, "/api/sessions", {}))).toBe("tenant_full");
});

test("a turn that was admitted to a session of any tenant is begun by a node of the pool", async () => {
  const db = await database();
  const store = shared(db.store({ name: "no server" })).forTenant("acme");
  const log = await store.open("s1", { mode: "write" });
  await log.append([], { durable: true });
  await log.close();
  const one = await node(db, "a");
  await store.shared?.admitTurn("s1", "tn_1", { kind: "send", input: "Hi" });
  await db.sql("update s.sessions set pool = 'test'"); // as if a server of the pool had admitted it
  const token = await newToken(one, "acme", "read");
  const done = await askAs(one, token, "/api/sessions/s1/turns/tn_1?wait=30");
  expect(resultIn(done)).toBe("Here is a.");
});

test("a tenant has so many requests and streams at once, and the others do not notice", async () => {
  const one = await node(await database(), "a", { server: { limits: { tenantRequests: 2 } } });
  const [acme, best] = [await newToken(one, "acme", "write"), await newToken(one, "best", "read")];
  await askAs(one, acme, "/api/sessions", { id: "s1" });
  const stop = new AbortController();
  const streams = await Promise.all(
    [1, 2].map(() =>
      fetch(`${one.server.url}/api/sessions/s1/events`, {
        headers: { authorization: `Bearer ${acme}` },
        signal: stop.signal,
      }),
    ),
  );
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  const third = await askAs(one, acme, "/api/sessions");
  expect([third.status, codeIn(third), third.headers["retry-after"]]).toEqual([
    429,
    "too_many_requests",
    "2",
  ]);
  expect((await askAs(one, best, "/api/sessions")).status).toBe(200);
  expect((await askAs(one, OWN, "/api/sessions")).status).toBe(200);
  stop.abort();
  await expect.poll(async () => (await askAs(one, acme, "/api/sessions")).status).toBe(200);
});

test("the metrics count all tenants, so a tenant's admin does not get them", async () => {
  const one = await node(await database(), "a");
  const boss = await newToken(one, "acme", "admin");
  const refused = await askAs(one, boss, "/metrics");
  expect([refused.status, codeIn(refused)]).toEqual([403, "right_missing"]);
  expect((await askAs(one, OWN, "/metrics")).status).toBe(200);
  expect((await askAs(one, await newToken(one, "", "admin"), "/metrics")).status).toBe(200);
});
