/**
 * A promoted standby may lack the end of a log that a reader has already read. When the log has grown again, its numbers
 * alone do not show that: the reader must learn of the new incarnation, or it would join two histories.
 */

import { expect, test } from "vitest";

import type { LogChange } from "../../src/runtime/log/index.ts";
import { type Database, database } from "./fixture.ts";
import { codeOf, messagesOf, notice, openToRead } from "./nodes.ts";

/** A session of four events, and another whose end takes the place of this one's at the failover. */
async function prepare(db: Database): Promise<void> {
  const store = db.store({ name: "before" });
  for (const [id, texts] of [
    ["s1", ["a", "b", "c", "d"]],
    ["s2", ["-", "-", "x", "y", "z"]],
  ] as const) {
    const log = await store.open(id, { mode: "write" });
    await log.append(texts.map(notice));
    await log.close();
  }
}

/** In one step: the standby lagged by two events, was promoted, and another node has written three others there. */
async function failOver({ sql }: Database): Promise<void> {
  await sql("begin");
  await sql("delete from s.events where session = 's1' and seq >= 2");
  await sql("update s.events set session = 's1' where session = 's2' and seq >= 2");
  await sql("update s.sessions set next_seq = 5 where id = 's1'");
  await sql("update s.store set incarnation = gen_random_uuid()");
  await sql("commit");
}

test("a reader that has seen what a promotion took back finds that its log was replaced", async () => {
  const db = await database();
  await prepare(db);
  const store = db.store({ name: "reader" });
  const reader = await openToRead(store);
  await failOver(db);
  expect(await codeOf(reader.refresh())).toBe("log_replaced");
  expect(messagesOf(reader.events)).toEqual(["a", "b", "c", "d"]);
  expect(messagesOf((await openToRead(store)).events)).toEqual(["a", "b", "x", "y", "z"]);
});

test("a follower that has seen what a promotion took back is told that its log was replaced", async () => {
  const db = await database();
  await prepare(db);
  const reader = await openToRead(db.store({ name: "reader" }));
  const changes = reader.changes()[Symbol.asyncIterator]();
  await changes.next();
  await failOver(db);
  const seen: LogChange[] = [];
  const ended = codeOf(
    (async () => {
      for (let next = await changes.next(); next.done !== true; next = await changes.next())
        seen.push(next.value);
    })(),
  );
  expect(await ended).toBe("log_replaced");
  expect(seen.flatMap(({ events }) => messagesOf(events))).toEqual([]);
});
