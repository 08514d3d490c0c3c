/** What a node says about itself: ready or why not, its counters, the nodes beside it. */

import { expect, test } from "vitest";

import type { Metric } from "../../src/runtime/log/index.ts";
import { postgresStore } from "../../src/runtime/postgres/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { startCluster } from "../support/postgres-cluster.ts";
import { database } from "./fixture.ts";

const READY = { ready: true };

function valueOf(metrics: readonly Metric[], name: string): number | undefined {
  const metric = metrics.find((one) => one.name === name);
  return metric === undefined ? undefined : metric.type === "summary" ? metric.count : metric.value;
}

test("a node is ready without having held a session, and has a lease from then on", async () => {
  const base = await database();
  const { shared } = base.store({ pool: "web", name: "web-1" });
  shared?.describe({ models: "abc" });
  expect(await shared?.health()).toEqual(READY);
  expect(await shared?.nodes()).toEqual([
    { self: true, name: "web-1", pool: "web", draining: false, models: "abc" },
  ]);
});

test("a node whose row is gone is not ready for long: it begins anew", async () => {
  const base = await database();
  const engine = base.engine({ pool: "web" });
  await engine.health.ask();
  const before = engine.node.id;
  await base.sql("delete from s.nodes");
  await expect(engine.node.renew()).rejects.toMatchObject({ code: "session_fenced" });
  expect(await engine.health.ask()).toEqual(READY);
  expect(engine.node.id).not.toBe(before);
});

test("a node that is about to leave says so, and tells the others", async () => {
  const base = await database();
  const [one, other] = [base.store({ pool: "web", name: "a" }), base.store({ pool: "web", name: "b" })];
  await one.shared?.health();
  await one.shared?.drain();
  expect(await one.shared?.health()).toEqual({ ready: false, why: "draining" });
  expect(await other.shared?.health()).toEqual(READY);
  expect((await other.shared?.nodes())?.map(({ name, draining }) => [name, draining])).toEqual([
    ["a", true],
    ["b", false],
  ]);
});

test("tables of another version make a node unready", async () => {
  const base = await database();
  await base.sql("update s.store set version = 99, oldest_writer = 99");
  expect(await base.store().shared?.health()).toEqual({ ready: false, why: "version" });
  await base.sql("update s.store set version = 0, oldest_writer = 0");
  expect(await base.store().shared?.health()).toEqual({ ready: false, why: "version" });
});

test("a database that is away makes a node unready within a second or so, and ready again when it is back", async () => {
  const cluster = await startCluster({ settings: ["fsync = off"] });
  afterTest(() => cluster.remove());
  const { migrateStore } = await import("../../src/runtime/postgres/index.ts");
  await migrateStore(cluster.url);
  const store = postgresStore(cluster.url, { leaseMs: 1000 });
  afterTest(() => store.close());
  const { shared } = store;
  expect(await shared?.health()).toEqual(READY);
  await cluster.stop("immediate");
  let answer = await shared?.health();
  while (answer?.ready === true) answer = await shared?.health(); // an answer holds for 250 ms
  expect(["store", "lease"]).toContain(answer?.ready === false ? answer.why : "");
  const started = performance.now();
  expect(await shared?.health()).toEqual({ ready: false, why: "store" });
  expect(performance.now() - started).toBeLessThan(3000);
  expect(valueOf((await shared?.metrics()) ?? [], "store_up")).toBe(0);
  await cluster.start();
  while ((await shared?.health())?.ready !== true);
  expect(valueOf((await shared?.metrics()) ?? [], "store_up")).toBe(1);
});

test("many who ask at once are answered by one statement", async () => {
  const engine = (await database()).engine();
  await engine.health.ask();
  const { quick } = engine.connections;
  const query = quick.query.bind(quick);
  let statements = 0;
  quick.query = (...given) => {
    statements += 1;
    return query(...given);
  };
  await Promise.all(Array.from({ length: 200 }, () => engine.health.ask()));
  expect(statements).toBeLessThan(2);
});

test("counters follow what happens", async () => {
  const base = await database();
  const store = base.store({ pool: "web", name: "one" });
  const log = await store.open("s1", { mode: "write" });
  await log.append([{ type: "title", title: "A" }]);
  log.scratch.write(["{}"]);
  await log.scratch.rows();
  await store.shared?.admitTurn("s1", "tn_1", { kind: "send" });
  const metrics = (await store.shared?.metrics()) ?? [];
  const values = Object.fromEntries(metrics.map(({ name }) => [name, valueOf(metrics, name)]));
  expect(values).toMatchObject({
    store_up: 1,
    sessions_held: 1,
    appends_total: 1,
    append_batch_seconds: 1,
    appends_refused_total: 0,
    live_rows_total: 1,
    live_flush_seconds: 1,
    inbox_entries: 1,
    turns_promised: 1,
    turns_running: 0,
    nodes: 1,
    nodes_other_models: 0,
  });
  const sum = metrics.find(({ name }) => name === "append_batch_seconds");
  expect(sum?.type === "summary" && sum.sum > 0 && sum.sum < 5).toBe(true);
  expect(valueOf(metrics, "lease_left_seconds")).toBeGreaterThan(0);
  expect(await store.shared?.usage()).toEqual({ sessions: 1, bytes: (await log.lines()).length });
  expect(await store.shared?.forTenant("other").shared?.usage()).toEqual({ sessions: 0, bytes: 0 });
  await log.close();
});

test("a takeover is counted by the node that takes over, and nodes with other models are counted", async () => {
  const base = await database();
  const [dead, next] = [base.store({ pool: "web" }), base.store({ pool: "web" })];
  dead.shared?.describe({ models: "one" });
  next.shared?.describe({ models: "two" });
  const log = await dead.open("s1", { mode: "write" });
  await log.append(
    [{ type: "user_message", turn: "tn_1", by: "person", content: [{ type: "text", text: "Hi" }] }],
    {
      turn: "begin",
    },
  );
  await next.shared?.health();
  expect(valueOf((await next.shared?.metrics()) ?? [], "nodes_other_models")).toBe(1);
  await base.sql("update s.nodes set lease_until = now() where models = 'one'");
  await (await next.open("s1", { mode: "write" })).close();
  const metrics = (await next.shared?.metrics()) ?? [];
  expect([valueOf(metrics, "takeovers_total"), valueOf(metrics, "nodes_other_models")]).toEqual([1, 0]);
  const of = (await dead.shared?.metrics()) ?? [];
  expect([valueOf(of, "takeovers_total"), valueOf(of, "turns_running")]).toEqual([0, 1]);
  await log.close();
});
