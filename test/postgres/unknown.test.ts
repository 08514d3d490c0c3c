/**
 * What becomes of statements other than appends whose answer never comes, and of answers that come too late: a session
 * is never held without a log, and a log never lives longer than its node.
 */

import { expect, test } from "vitest";

import { codeOf, engine, messagesIn, movable, notice, openToWrite, proxiedDatabase, rowOf } from "./nodes.ts";

test.each([1, 2, 3])(
  "an acquisition whose answer is lost %d times in a row gives the session to its node",
  async (times) => {
    const db = await proxiedDatabase();
    const store = db.proxied();
    await (await openToWrite(store, "other")).append([notice("a")]);
    const lost = db.proxy.swallow("_acquire", { times });
    const log = await openToWrite(store);
    await log.append([notice("a")]);
    await log.append([notice("b")]);
    expect([await messagesIn(db), lost.count]).toEqual([["a", "b"], times]);
  },
);

test("a session whose acquisition was never answered is free for other nodes, while its node lives on", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ name: "web-1", leaseMs: 1500 });
  const other = await openToWrite(store, "other");
  const log = await openToWrite(db.store());
  await log.append([notice("a")]);
  await log.close();
  const lost = db.proxy.swallow("_acquire", { times: 100 });
  expect(await codeOf(store.open("s1", { mode: "write" }))).toBe("store_unreachable");
  expect(await codeOf(store.open("s2", { mode: "write" }))).toBe("store_unreachable");
  lost.stop();
  expect(await rowOf(db)).toMatchObject({ fence: "2" }); // it was acquired
  const next = await openToWrite(db.store({ name: "web-2" }), "s1", 60_000);
  await next.append([notice("b")]);
  // The id that it had reserved is free again too.
  await expect.poll(() => db.sql("select id from s.sessions where id = 's2'")).toEqual([]);
  await other.append([notice("still here")]);
  expect(engine(store).node.deaths).toBe(0);
});

test("a session that was closed while the database was away is free as soon as it is back", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ name: "web-1", leaseMs: 5000 });
  const other = await openToWrite(store, "other");
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  const accept = db.proxy.refuse();
  db.proxy.cut();
  await log.close();
  accept();
  const next = await openToWrite(db.store({ name: "web-2" }), "s1", 60_000);
  await next.append([notice("b")]);
  await other.append([notice("still here")]);
  expect(engine(store).node.deaths).toBe(0);
});

test("a session that its node has closed meanwhile is not taken away from the next log of the same node", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ name: "web-1", leaseMs: 1500 });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  const accept = db.proxy.refuse();
  db.proxy.cut();
  await log.close();
  accept();
  const next = await openToWrite(store, "s1", 60_000);
  await engine(store).node.renew();
  await next.append([notice("b")]);
  expect([await messagesIn(db), next.lost.aborted]).toEqual([["a", "b"], false]);
  expect(await codeOf(db.store().open("s1", { mode: "write" }))).toBe("session_locked");
});

test("a release whose answer is lost is repeated without harm", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.proxied());
  await log.append([notice("a")]);
  const lost = db.proxy.swallow("_release");
  await log.close();
  expect([await rowOf(db), lost.count]).toMatchObject([{ holder: null }, 1]);
});

test("an acquisition for a node that has died meanwhile by its own clock is given back", async () => {
  const db = await proxiedDatabase();
  const clock = movable();
  const store = db.proxied({ name: "web-1", clock });
  const other = await openToWrite(store, "other");
  await other.append([notice("a")]);
  const { node } = engine(store);
  const dead = node.id;
  // Held after the id of the node was chosen, and before the session is acquired under it.
  const held = db.proxy.hold("_look");
  const opening = openToWrite(store, "s1", 60_000);
  await held.reached;
  clock.ahead = 15_001;
  expect(await codeOf(other.assertWriter())).toBe("session_fenced");
  held.release();
  const log = await opening;
  await log.append([notice("b")]);
  expect(node.id).not.toBe(dead);
  expect(await rowOf(db)).toMatchObject({ holder: node.id });
});

test("a node whose first sign of life was not answered begins all the same", async () => {
  const db = await proxiedDatabase();
  const lost = db.proxy.swallow("_add_node");
  const log = await openToWrite(db.proxied());
  await log.append([notice("a")]);
  expect([await db.sql("select count(*)::int as n from s.nodes"), lost.count]).toEqual([[{ n: 1 }], 1]);
});

test("a node ends in time although its renewal waits behind statements that nobody answers", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ leaseMs: 900 });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  const { quick } = engine(store).connections;
  db.proxy.silence("both");
  for (let n = 0; n < 20; n += 1) quick.query({ text: "select 1" }, []).catch(() => undefined);
  await new Promise((resolve) => {
    log.lost.addEventListener("abort", resolve, { once: true });
  });
  expect(quick.load).toBeGreaterThan(10);
  expect(await codeOf(log.assertWriter())).toBe("session_fenced");
});

test("a session that is removed while it is opened to read was not found; it is not damaged", async () => {
  const db = await proxiedDatabase();
  const [store, other] = [db.proxied(), db.store()];
  const log = await openToWrite(other);
  await log.append([notice("a")]);
  await log.close();
  const held = db.proxy.hold("_lines");
  const opening = codeOf(store.open("s1", { mode: "read" }));
  await held.reached;
  await other.remove("s1");
  held.release();
  expect(await opening).toBe("session_not_found");
});

test("a store that could not open a session to read still ends its node when it is closed", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ name: "web-1" });
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  await log.close();
  await db.sql("update s.events set line = 'broken'");
  expect(await codeOf(store.open("s1", { mode: "read" }))).toBe("log_damaged");
  await store.close();
  expect(await db.sql("select name from s.nodes")).toEqual([]);
  await expect.poll(() => db.proxy.open).toBe(0);
});

test("an acquisition that never reached the server takes nothing from the next one of its node", async () => {
  const db = await proxiedDatabase();
  const store = db.proxied({ name: "web-1", leaseMs: 5000 });
  await openToWrite(store, "other");
  await (await openToWrite(db.store())).close();
  const held = db.proxy.hold("_acquire");
  const opening = codeOf(store.open("s1", { mode: "write" }));
  await held.reached;
  const accept = db.proxy.refuse();
  db.proxy.cut();
  held.release();
  expect(await opening).toBe("store_unreachable");
  accept();
  const log = await openToWrite(store);
  await log.append([notice("a")]);
  await engine(store).node.renew();
  await engine(store).releases.pay();
  await log.append([notice("b")]);
  expect([await messagesIn(db), log.lost.aborted]).toEqual([["a", "b"], false]);
});
