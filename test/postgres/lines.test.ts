/** The exact bytes of a log: there and back, for every log of every version; and what damage to a row looks like. */

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { fileStore, frameLine, type Store, type WholeSession } from "../../src/runtime/log/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { type Expected, expectedOf, type LogRecord } from "../support/earlier-logs.ts";
import { type Database, database } from "./fixture.ts";
import { codeOf, errorOf, messagesOf, notice, openToRead, openToWrite, proxiedDatabase } from "./nodes.ts";

const root = resolve(import.meta.dirname, "../fixtures/logs");
const versions = readdirSync(root).filter((name) => name.startsWith("v"));

const answersOf = (version: string): Readonly<Record<string, Expected>> =>
  (
    JSON.parse(readFileSync(join(root, version, "expected.json"), "utf8")) as {
      readonly logs: Readonly<Record<string, Expected>>;
    }
  ).logs;

/** The lines of a session, and its blobs as they are, even one that is damaged. */
async function wholeOf(
  store: Store,
  id: string,
  blobs: ReadonlyMap<string, Uint8Array>,
): Promise<WholeSession> {
  const log = await store.open(id, { mode: "read" });
  try {
    return { events: [], lines: await log.lines(), blobs };
  } finally {
    await log.close();
  }
}

function blobsBeside(folder: string, id: string): ReadonlyMap<string, Buffer> {
  const beside = join(folder, `${id}.blobs`);
  const names = existsSync(beside) ? readdirSync(beside) : [];
  return new Map(names.map((name) => [name, readFileSync(join(beside, name))]));
}

async function blobsInRows({ sql }: Database, id: string): Promise<ReadonlyMap<string, Buffer>> {
  const rows = await sql("select name, bytes from s.blobs where session = $1 order by name", [id]);
  return new Map(rows.map(({ name, bytes }) => [String(name), bytes as Buffer]));
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "throughline-lines-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe.each(versions)("logs of %s", (version) => {
  const expected = answersOf(version);
  const whole = Object.keys(expected).filter((id) => !("problem" in (expected[id] as Expected)));

  test("keep every byte in the database and back, with the same requests, preview and display", async () => {
    const db = await database();
    const store = db.store();
    const folder = temporaryFolder();
    cpSync(join(root, version), folder, { recursive: true });
    const files = fileStore(folder);
    const last = temporaryFolder();
    const back = fileStore(last);
    for (const id of whole) {
      const given = await wholeOf(files, id, blobsBeside(folder, id));
      await store.create(id, given);
      // What a crash left unfinished at the end of the file is not part of the log.
      const lines = readFileSync(join(folder, `${id}.jsonl`)).subarray(0, given.lines?.length);
      const there = await wholeOf(store, id, await blobsInRows(db, id));
      expect([id, there.lines?.equals(lines), there.blobs]).toEqual([id, true, given.blobs]);
      await back.create(id, there);
      expect([id, readFileSync(join(last, `${id}.jsonl`)).equals(lines), blobsBeside(last, id)]).toEqual([
        id,
        true,
        given.blobs,
      ]);
      for (const mode of ["read", "write"] as const)
        expect([id, mode, await expectedOf(store, id, mode, version)]).toEqual([id, mode, expected[id]]);
    }
    expect(whole.length).toBeGreaterThan(5);
    const requests = whole.flatMap((id) => (expected[id] as LogRecord).requests);
    expect(requests.length).toBeGreaterThan(whole.length);
  });

  test("are refused by the database if they are damaged or too new", async () => {
    const db = await database();
    const store = db.store();
    for (const id of Object.keys(expected).filter((one) => !whole.includes(one))) {
      const lines = readFileSync(join(root, version, `${id}.jsonl`));
      const { problem } = expected[id] as { readonly problem: string };
      const created = await codeOf(store.create(id, { events: [], lines, blobs: new Map() }));
      if (created !== problem)
        expect([id, await codeOf(store.open(id, { mode: "read" }))]).toEqual([id, problem]);
      else expect([id, await store.exists(id)]).toEqual([id, false]);
    }
  });
});

test("texts that a database might change come back as they were", async () => {
  const db = await database();
  const hard = [
    "\u0000 \u0001 \u001f \u007f",
    "\ud800 alone, and \udc00 alone",
    "🙂 e\u0301 \u202e \ufeff \uffff",
    "\u2028 \u2029 \u0085",
    '\\u0000 \\ \\\\ {} {"a":1,"a":2} NULL \\N',
    "'; drop table events; --",
    "-0 1E5 0.1000",
    `{${"ä".repeat(5000)},"b"}`,
    "a\r\nb\tc\n\n",
  ];
  const log = await openToWrite(db.store());
  await log.append(hard.map(notice));
  for (const text of hard) await log.append([notice(text)]);
  const reader = await openToRead(db.store());
  expect(reader.events).toEqual(log.events);
  expect(messagesOf(reader.events)).toEqual([...hard, ...hard]);
  const bytes = Buffer.concat(log.events.map((event) => frameLine(event)));
  expect((await reader.lines()).equals(bytes)).toBe(true);
  const rows = await db.sql("select line from s.events order by seq");
  expect(Buffer.from(rows.map(({ line }) => `${String(line)}\n`).join("")).equals(bytes)).toBe(true);
  expect(await db.sql("select bytes::int as bytes, next_seq::int as n from s.sessions")).toEqual([
    { bytes: bytes.length, n: 18 },
  ]);
});

test("lines that another writer adds meanwhile are not among those of a log that has not read them", async () => {
  const db = await proxiedDatabase();
  const log = await openToWrite(db.store());
  await log.append([notice("a"), notice("b")]);
  const reader = await openToRead(db.proxied());
  const held = db.proxy.hold("_lines");
  const lines = reader.lines();
  await held.reached;
  await log.append([notice("c")]);
  held.release();
  expect((await lines).toString().split("\n").length - 1).toBe(2);
});

/** Two writers of three events each. */
async function sixEvents(db: Database): Promise<readonly LoggedEvent[]> {
  const store = db.store();
  for (const writer of [1, 2]) {
    const log = await store.open("s1", { mode: "write" });
    await log.append([1, 2, 3].map((n) => notice(`${writer}.${n}`)));
    await log.close();
    if (writer === 2) return log.events;
  }
  return [];
}

const bare = (event: LoggedEvent): string => frameLine(event).toString("utf8").slice(0, -1);

interface Damage {
  readonly what: string;
  readonly change: (db: Database, events: readonly LoggedEvent[]) => Promise<unknown>;
  /** The line, counted from 1, and what is wrong with it. */
  readonly line: number;
  readonly problem: string;
}

const setLine = ({ sql }: Database, seq: number, line: string): Promise<unknown> =>
  sql("update s.events set line = $2 where seq = $1", [seq, line]);

const damages: readonly Damage[] = [
  {
    what: "a changed byte",
    change: ({ sql }) => sql("update s.events set line = replace(line, '1.3', '1.4')"),
    line: 3,
    problem: "the checksum does not match",
  },
  {
    what: "a missing row",
    change: ({ sql }) => sql("delete from s.events where seq = 2"),
    line: 3,
    problem: "seq is 3, expected 2",
  },
  {
    what: "a missing first row",
    change: ({ sql }) => sql("delete from s.events where seq = 0"),
    line: 1,
    problem: "seq is 1, expected 0",
  },
  {
    what: "missing last rows",
    change: ({ sql }) => sql("delete from s.events where seq >= 4"),
    line: 5,
    problem: "events 4 to 5 are missing",
  },
  {
    what: "two rows that changed places",
    change: (db, events) =>
      Promise.all([1, 2].map((seq) => setLine(db, seq, bare(events[3 - seq] as LoggedEvent)))),
    line: 2,
    problem: "seq is 2, expected 1",
  },
  {
    what: "an epoch that falls",
    change: (db, events) => setLine(db, 4, bare({ ...(events[4] as LoggedEvent), epoch: 1 })),
    line: 5,
    problem: "epoch went down from 2 to 1",
  },
  {
    what: "a line in two",
    change: ({ sql }) =>
      sql("update s.events set line = overlay(line placing e'\\n' from 9 for 1) where seq = 1"),
    line: 2,
    problem: "too short to be an event",
  },
  { what: "an empty line", change: (db) => setLine(db, 5, ""), line: 6, problem: "too short to be an event" },
];

describe.each(damages)("$what", ({ change, line, problem }) => {
  test("is reported with its place, for readers, writers and lists, and nothing is changed", async () => {
    const db = await database();
    const events = await sixEvents(db);
    await change(db, events);
    const store = db.store();
    const before = await db.sql("select * from s.events order by seq");
    const byte = events.slice(0, line - 1).reduce((sum, event) => sum + frameLine(event).length, 0);
    for (const mode of ["read", "write"] as const)
      expect(await errorOf(store.open("s1", { mode }))).toMatchObject({
        code: "log_damaged",
        details: { line, byte, problem },
        message: expect.stringContaining(`line ${line}, byte ${byte}: ${problem}`),
      });
    expect(await db.sql("select * from s.events order by seq")).toEqual(before);
    // It is not held by the writer that failed.
    expect(await db.sql("select holder from s.sessions")).toEqual([{ holder: null }]);
    await db.sql("update s.sessions set summary = null");
    const listed = [];
    for await (const one of store.list()) listed.push(one);
    expect(listed).toMatchObject([{ id: "s1", problemCode: "log_damaged" }]);
  });

  test("is noticed by a log that was read before", async () => {
    const db = await database();
    const store = db.store();
    const events = await sixEvents(db);
    const reader = await openToRead(store);
    await change(db, events);
    const code = await codeOf(reader.lines());
    expect([code, reader.events]).toEqual([
      line > 4 && problem.includes("missing") ? "log_replaced" : "log_damaged",
      events,
    ]);
  });
});

test("damage in what a reader has not read yet is noticed when it is read", async () => {
  const db = await database();
  const log = await openToWrite(db.store());
  await log.append([notice("a")]);
  const [one, two] = [await openToRead(db.store()), await openToRead(db.store())];
  const changes = two.changes()[Symbol.asyncIterator]();
  await changes.next();
  const change = codeOf(changes.next());
  await db.sql(
    "create or replace function s.spoil() returns trigger language plpgsql as $$ begin new.line := replace(new.line, 'b', 'c'); return new; end $$",
  );
  await db.sql("create trigger spoil before insert on s.events for each row execute function s.spoil()");
  await log.append([notice("bad")]);
  expect([await codeOf(one.refresh()), await change]).toEqual(["log_damaged", "log_damaged"]);
});

test("a blob whose bytes do not match its name is damaged, and others are not", async () => {
  const db = await database();
  const log = await openToWrite(db.store());
  await log.append([notice("a")]);
  const names = [await log.putBlob(Buffer.from("one")), await log.putBlob(Buffer.from("two"))];
  await db.sql("update s.blobs set bytes = 'changed' where name = $1", [names[0]]);
  expect(await codeOf(log.getBlob(names[0] ?? ""))).toBe("blob_damaged");
  expect(await log.getBlob(names[1] ?? "")).toEqual(Buffer.from("two"));
});
