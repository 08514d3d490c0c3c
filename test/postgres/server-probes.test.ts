/** What a balancer and monitoring learn about a node, in good times and bad. */

import { expect, test } from "vitest";

import { postgresStore } from "../../src/runtime/postgres/index.ts";
import { gate, anyTool, call, say } from "../contracts/session-fixture.ts";
import { ask, servedAlone } from "../server/server-fixture.ts";
import { afterTest } from "../support/clean-up.ts";
import { database } from "./fixture.ts";
import { movable, proxiedDatabase } from "./nodes.ts";
import { askAs, bodyOf, newToken, node, OWN, type Server } from "./server-fixture.ts";

/** Without a token and under a name that is not the server's. */
async function probe({ server }: Pick<Server, "server">, path = "/readyz"): Promise<readonly unknown[]> {
  const { status, text } = await ask(server, { path, bare: true, headers: { host: "10.0.0.7" } });
  return [status, JSON.parse(text)];
}

const READY = [200, { ok: true }];
const unready = (why: string): readonly unknown[] => [503, { ok: false, why }];

async function untilProbe(server: Server, wanted: readonly unknown[]): Promise<void> {
  while (JSON.stringify(await probe(server)) !== JSON.stringify(wanted));
}

test("a node is ready once it has a lease, and healthy in any case", async () => {
  const db = await database();
  const one = await node(db, "a");
  expect([await probe(one), await probe(one, "/healthz")]).toEqual([READY, READY]);
  expect((await db.sql("select name from s.nodes")).map(({ name }) => name)).toEqual(["a"]);
});

test("a node whose database does not answer is not ready, still healthy, and ready again afterwards", async () => {
  const db = await proxiedDatabase();
  const one = await servedAlone({ store: db.proxied({ pool: "test", leaseMs: 900 }) });
  await untilProbe(one, READY);
  const accept = db.proxy.refuse();
  db.proxy.cut();
  await untilProbe(one, unready("store"));
  expect(await probe(one, "/healthz")).toEqual(READY);
  accept();
  await untilProbe(one, READY);
});

test("a database that is silent makes the probe say so within two seconds", async () => {
  const db = await proxiedDatabase();
  const one = await servedAlone({ store: db.proxied({ pool: "test" }) });
  await untilProbe(one, READY);
  const heal = db.proxy.silence("answers");
  await untilProbe(one, unready("store"));
  const started = performance.now();
  expect(await probe(one)).toEqual(unready("store"));
  expect(performance.now() - started).toBeLessThan(2000);
  heal();
  await untilProbe(one, READY);
});

test("a node that cannot reach its database when it starts is never ready, and becomes so when it can", async () => {
  const db = await proxiedDatabase();
  const accept = db.proxy.refuse();
  const one = await servedAlone({ store: db.proxied({ pool: "test" }) });
  const seen = new Set<string>();
  for (let n = 0; n < 20; n += 1) seen.add(JSON.stringify(await probe(one)));
  expect([...seen]).toEqual([JSON.stringify(unready("store"))]);
  accept();
  await untilProbe(one, READY);
});

test("tables of another version make a node unready", async () => {
  const db = await database();
  await db.sql("update s.store set version = 99, oldest_writer = 99");
  const one = await node(db, "a");
  expect(await probe(one)).toEqual(unready("version"));
});

test("a node with almost no lease left is not ready until it has renewed it", async () => {
  const clock = movable();
  const one = await node(await database(), "a", {}, { clock, leaseMs: 3000 });
  await untilProbe(one, READY);
  clock.ahead += 2600;
  expect(await probe(one)).toEqual(unready("lease"));
  await untilProbe(one, READY);
});

test("a node whose event loop was more than a second late is busy for a while", async () => {
  const one = await node(await database(), "a");
  await untilProbe(one, READY);
  const until = performance.now() + 1500;
  while (performance.now() < until);
  expect(await probe(one)).toEqual(unready("busy"));
});

test("a node that drains says so at once, while its running turn goes on, and takes no new one", async () => {
  const [begun, wait] = [gate(), gate()];
  const hold = anyTool("hold", async () => {
    begun.open();
    await wait.promise;
    return "held";
  });
  const one = await node(await database(), "a", {
    permissions: "auto",
    tools: [hold],
    script: [{ output: [call("hold")] }, { output: [say("Done.")] }],
  });
  await askAs(one, OWN, "/api/sessions", { id: "s1" });
  await askAs(one, OWN, "/api/sessions/s1/turns", { input: "Go", turn: "tn_1" });
  await begun.promise;
  const closing = one.server.close({ drainMs: 30_000 });
  expect(await probe(one)).toEqual(unready("draining"));
  expect(await probe(one, "/healthz")).toEqual(READY);
  const acme = await newToken(one, "acme", "write");
  for (const token of [OWN, acme]) {
    await askAs(one, token, "/api/sessions", { id: "s2" });
    expect((await askAs(one, token, "/api/sessions/s2/turns", { input: "More" })).status).toBe(503);
  }
  const ended = askAs(one, OWN, "/api/sessions/s1/turns/tn_1?wait=30");
  wait.open();
  expect(bodyOf(await ended)).toMatchObject({
    state: "done",
    result: { status: "completed", text: "Done." },
  });
  await closing;
});

test("while the database is away, the owner's token is known, a token of the table is neither right nor wrong, and nobody floods the terminal", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ pool: "test", leaseMs: 900 });
  const one = await servedAlone({ store, server: { token: OWN, limits: { strangerMs: 500 } } });
  const acme = await newToken(one, "acme", "read");
  const accept = db.proxy.refuse();
  db.proxy.cut();
  expect((await askAs(one, OWN, "/api/server")).status).toBe(200);
  for (const [token, path] of [
    [acme, "/api/server"],
    [OWN, "/api/sessions"],
    [OWN, "/api/sessions"],
  ] as const) {
    const answer = await askAs(one, token, path);
    expect([answer.status, answer.headers["retry-after"], bodyOf(answer)]).toMatchObject([
      503,
      "2",
      { error: { code: "store_unreachable" } },
    ]);
    expect(answer.text).not.toMatch(/127\.0\.0\.1|postgres|THROUGHLINE_STORE/);
  }
  expect(one.problems.filter((text) => text.includes("the database"))).toHaveLength(1);
  expect(one.problems.join("\n")).not.toContain(String(db.proxy.port));
  accept();
});

test("a node warns once if another node of its pool has other models, and the metrics count it", async () => {
  const db = await database();
  const [first, other, alien] = [
    db.store({ pool: "test", name: "first" }),
    db.store({ pool: "test", name: "second" }),
    db.store({ pool: "elsewhere", name: "third" }),
  ];
  first.shared?.describe({ models: "1111" });
  other.shared?.describe({ models: "2222" });
  alien.shared?.describe({ models: "3333" });
  await first.shared?.health();
  const third = await servedAlone({ store: alien, server: { token: OWN } });
  const second = await servedAlone({ store: other, server: { token: OWN } });
  while (second.problems.length === 0) await probe(second);
  expect(second.problems).toEqual([
    "node first has other models, keys or addresses than this one. A session that moves from one to the other loses its reasoning: start all nodes of a pool with the same keys and base URLs",
  ]);
  expect(await probe(second)).toEqual(READY);
  const { text } = await askAs(second, OWN, "/metrics");
  expect(text).toContain("\nthroughline_nodes_other_models 1\n");
  expect(text).toContain('\nthroughline_models_info{fingerprint="2222"} 1\n');
  expect(third.problems).toEqual([]);
});

test("a store that is closed under a server makes it unready", async () => {
  const db = await database();
  const store = postgresStore(db.url, { pool: "test" });
  const one = await servedAlone({ store });
  afterTest(() => store.close());
  await untilProbe(one, READY);
  await store.close();
  await untilProbe(one, unready("store"));
});
