/** The proxy that other tests use to lose answers: it must lose exactly those, and nothing else. */

import pg from "pg";
import { expect, inject, test } from "vitest";

import { afterTest } from "../support/clean-up.ts";
import { type PgProxy, startPgProxy } from "../support/pg-proxy.ts";

async function proxied(): Promise<{ readonly proxy: PgProxy; readonly client: () => Promise<pg.Client> }> {
  const url = inject("postgresUrl");
  const proxy = await startPgProxy(Number(new URL(url).port));
  afterTest(() => proxy.close());
  return {
    proxy,
    async client() {
      const made = new pg.Client(proxy.through(url));
      made.on("error", () => undefined);
      await made.connect();
      afterTest(() => made.end().catch(() => undefined));
      return made;
    },
  };
}

const table = async (): Promise<{
  readonly name: string;
  readonly rows: () => Promise<readonly number[]>;
}> => {
  const direct = new pg.Client(inject("postgresUrl"));
  await direct.connect();
  const name = `proxied_${process.pid}_${Math.random().toString(36).slice(2)}`;
  await direct.query(`create table ${name} (n int primary key)`);
  afterTest(async () => {
    await direct.query(`drop table ${name}`);
    await direct.end();
  });
  const rows = async () =>
    (await direct.query<{ n: number }>(`select n from ${name} order by n`)).rows.map(({ n }) => n);
  return { name, rows };
};

test("loses the answer of the statement that matches, after it was carried out, and of no other", async () => {
  const { proxy, client } = await proxied();
  const { name, rows } = await table();
  const one = await client();
  const lost = proxy.swallow(`insert into ${name}`);
  expect((await one.query("select 1 as a")).rows).toEqual([{ a: 1 }]);
  await expect(one.query(`insert into ${name} values ($1)`, [1])).rejects.toThrow("terminated");
  await lost.done;
  const two = await client();
  await two.query(`insert into ${name} values ($1)`, [2]);
  expect([await rows(), lost.count, proxy.counters.swallowed]).toEqual([[1, 2], 1, 1]);
});

test("finds a prepared statement by its name, also when its text was sent long before", async () => {
  const { proxy, client } = await proxied();
  const { name, rows } = await table();
  const insert = (n: number) => ({
    name: "tl_x_append",
    text: `insert into ${name} values ($1)`,
    values: [n],
  });
  const one = await client();
  await one.query(insert(1));
  const lost = proxy.swallow("tl_x_append");
  await expect(one.query(insert(2))).rejects.toThrow("terminated");
  expect([await rows(), lost.count]).toEqual([[1, 2], 1]);
});

test("passes on the answer of a statement that failed, and loses the next that succeeds", async () => {
  const { proxy, client } = await proxied();
  const { name, rows } = await table();
  const one = await client();
  await one.query(`insert into ${name} values (1)`);
  const lost = proxy.swallow("insert into", { after: "silent" });
  await expect(one.query(`insert into ${name} values (1)`)).rejects.toMatchObject({ code: "23505" });
  expect(lost.count).toBe(0);
  let answered = false;
  void one.query(`insert into ${name} values (2)`).then(
    () => (answered = true),
    () => (answered = true),
  );
  await lost.done;
  expect(await rows()).toEqual([1, 2]);
  expect((await (await client()).query("select 1 as a")).rows).toEqual([{ a: 1 }]);
  expect(answered).toBe(false); // silent, not closed
});

test("holds a statement before the server sees it, and an answer after", async () => {
  const { proxy, client } = await proxied();
  const { name, rows } = await table();
  const one = await client();
  const before = proxy.hold(`insert into ${name}`);
  const first = one.query(`insert into ${name} values (1)`);
  await before.reached;
  expect(await rows()).toEqual([]);
  before.release();
  await first;
  const after = proxy.hold(`insert into ${name}`, "answer");
  const second = one.query(`insert into ${name} values (2)`);
  await after.reached;
  expect(await rows()).toEqual([1, 2]);
  after.release();
  await second;
});

test.each(["statements", "answers", "both"] as const)(
  "keeps back %s while it is silent, and delivers them afterwards",
  async (direction) => {
    const { proxy, client } = await proxied();
    const { name, rows } = await table();
    const one = await client();
    const heal = proxy.silence(direction);
    let answered = false;
    const insert = one.query(`insert into ${name} values (1)`).then(() => (answered = true));
    if (direction === "answers") await expect.poll(rows).toEqual([1]);
    else {
      const other = new pg.Client(inject("postgresUrl"));
      await other.connect();
      await other.query("select pg_sleep(0.05)"); // nothing to wait for: something must not happen
      await other.end();
      expect(await rows()).toEqual([]);
    }
    expect(answered).toBe(false);
    heal();
    await insert;
    expect(await rows()).toEqual([1]);
  },
);

test("cuts what was held back if it is to be lost", async () => {
  const { proxy, client } = await proxied();
  const { name, rows } = await table();
  const one = await client();
  const heal = proxy.silence("answers");
  const insert = one.query(`insert into ${name} values (1)`).catch((error: unknown) => String(error));
  await expect.poll(rows).toEqual([1]);
  heal("lose");
  expect(await insert).toMatch(/ECONNRESET|terminated/);
});

test("cuts, refuses and delays", async () => {
  const { proxy, client } = await proxied();
  const one = await client();
  const waits = one.query("select pg_sleep(60)").catch((error: unknown) => String(error));
  expect(proxy.cut()).toBe(1);
  expect(await waits).toMatch(/ECONNRESET|terminated/);
  const accept = proxy.refuse();
  await expect(client()).rejects.toThrow();
  accept();
  const two = await client();
  proxy.delay(30);
  const started = performance.now();
  await two.query("select 1");
  expect(performance.now() - started).toBeGreaterThan(55);
  proxy.delay(0);
  expect(proxy.counters).toEqual({ accepted: 2, cut: 1, refused: 1, swallowed: 0 });
});

test("tells which statements passed, and whether they failed", async () => {
  const { proxy, client } = await proxied();
  const one = await client();
  const seen: string[] = [];
  proxy.onStatement(({ name, text }) => seen.push(`${name} ${text}`));
  proxy.onAnswer(({ text }, failed) => seen.push(`${text} ${failed ? "failed" : "answered"}`));
  await one.query({ name: "n", text: "select $1::int as a", values: [7] });
  await one.query("select 1/0").catch(() => undefined);
  expect(seen).toEqual([
    "n select $1::int as a",
    "select $1::int as a answered",
    " select 1/0",
    "select 1/0 failed",
  ]);
});

test("passes on large messages whole", async () => {
  const { client } = await proxied();
  const one = await client();
  const text = "äöü€".repeat(500_000);
  const { rows } = await one.query<{ a: string }>("select $1::text as a", [text]);
  expect(rows[0]?.a === text).toBe(true);
});
