/** How the server carries out the statements that run most often. What they cost is measured in bench/postgres. */

import { expect, test } from "vitest";

import { statementsFor } from "../../src/runtime/postgres/statements.ts";
import { database } from "./fixture.ts";
import { begins, ends, notice, openToWrite, rowOf } from "./nodes.ts";

test("a look at 200 followed sessions reads only what is new, and compiles nothing", async () => {
  const db = await database();
  await db.sql(
    `prepare watch(text[], text[], bigint[], bigint[], bigint[]) as ${statementsFor(db.schema).watch.text}`,
  );
  const ids = Array.from({ length: 200 }, (_, n) => `'s${n}'`);
  const column = (value: string, type: string): string => `array[${ids.map(() => value).join()}]::${type}[]`;
  const values = [
    column("''", "text"),
    `array[${ids.join()}]`,
    ...["0", "1", "1"].map((n) => column(n, "bigint")),
  ];
  const rows = await db.sql(`explain execute watch(${values.join()})`);
  const plan = rows.map((row) => String(row["QUERY PLAN"])).join("\n");
  // Above this the server compiles a plan each time it runs, which takes longer than this one needs.
  const [{ jit_above_cost: most } = {}] = await db.sql("show jit_above_cost");
  expect(Number(/\.\.(\d+)/.exec(plan)?.[1])).toBeLessThan(Number(most));
  expect(plan).toMatch(/Index Scan using events_pkey on events e .*\n.*Index Cond: .*\(seq >= /);
  expect(plan).toMatch(/Index Scan using live_pkey on live l .*\n.*Index Cond: .*\(n > /);
});

test("an append inside a turn leaves the time of its session for a second, so that no index changes", async () => {
  const db = await database();
  const log = await openToWrite(db.store());
  await log.append([begins("first")]);
  await db.sql("update s.sessions set modified_at = now() + interval '1 day'");
  const { modified_at: before } = await rowOf(db);
  await log.append([notice("inside")]);
  expect((await rowOf(db))["modified_at"]).toEqual(before);
  await db.sql("update s.sessions set modified_at = now() - interval '2 s'");
  const { modified_at: old } = await rowOf(db);
  await log.append([notice("later")]);
  expect((await rowOf(db))["modified_at"]).not.toEqual(old);
  await db.sql("update s.sessions set modified_at = now() + interval '1 day'");
  await log.append([ends("first")]);
  expect((await rowOf(db))["modified_at"]).not.toEqual(before);
});
