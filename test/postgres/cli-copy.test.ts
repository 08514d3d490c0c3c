/** `sessions copy`: the same bytes in both stores, and a session is removed only when its copy was compared. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fileStore } from "../../src/runtime/log/index.ts";
import { expectProblem, logsOf, onlyLog, type Place, run } from "../cli/harness.ts";
import { good, onlySession, storePlace } from "./cli-fixture.ts";

/** A session of files with a blob: an attached image. */
async function sessionWithBlob(place: Place): Promise<string> {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  // Large enough to be kept beside the log.
  writeFileSync(join(place.work, "dot.png"), Buffer.concat([png, Buffer.alloc(200_000, 7)]));
  await good(run(place, ["-p", "-i", "dot.png", "what is this?"]));
  return (await onlyLog(place)).id;
}

async function exported(running: ReturnType<typeof run>): Promise<string> {
  return (await good(running)).out;
}

test("files to PostgreSQL and back: the bytes of the log file, its blobs, and the same next turn", async () => {
  const { place, db, on } = await storePlace();
  const id = await sessionWithBlob(place);
  const file = readFileSync(join(place.sessions, `${id}.jsonl`));
  const first = await exported(run(place, ["sessions", "export", id]));
  const copied = await good(run(place, ["sessions", "copy", id, "--to", db.url]));
  expect(copied.out).toMatch(new RegExp(`^copied ${id}: \\d+ events, 1 blob\\n$`));
  expect(await exported(on(["sessions", "export", id]))).toBe(first);
  const rows = await db.sql("select line from s.events where session = $1 order by seq", [id]);
  expect(Buffer.from(rows.map(({ line }) => `${String(line)}\n`).join(""))).toEqual(file);

  // Back into other files, and from there the whole way again.
  const back = await storePlace();
  await good(back.on(["sessions", "copy", id, "--from", db.url], { env: { THROUGHLINE_STORE: "" } }));
  expect(readFileSync(join(back.place.sessions, `${id}.jsonl`))).toEqual(file);
  await good(run(place, ["sessions", "copy", id, "--to", back.db.url]));
  expect(await exported(back.on(["sessions", "export", id]))).toBe(first);
  await good(on(["-p", "-r", id, "and now?"]));
  expect((await good(on(["check", id]))).out).toContain("no problems");
});

test("from one database to another, by title, with the word files for this machine's files", async () => {
  const one = await storePlace();
  const two = await storePlace();
  await good(one.on(["-p", "hello"]));
  const id = await onlySession(one.db);
  await good(one.on(["sessions", "rename", id, "the greeting"]));
  await good(one.on(["sessions", "copy", "the greeting", "--to", two.db.url]));
  expect(await onlySession(two.db)).toBe(id);
  await good(one.on(["sessions", "copy", id, "--to", "files"]));
  expect((await onlyLog(one.place)).id).toBe(id);
  await good(two.on(["sessions", "rm", id, "--yes"]));
  await good(run(one.place, ["sessions", "copy", "--last", "--from", "files", "--store", two.db.url]));
  expect(await onlySession(two.db)).toBe(id);
});

test("a session that is there already is refused, and nothing changes", async () => {
  const { place, db, on } = await storePlace();
  const id = await sessionWithBlob(place);
  await good(run(place, ["sessions", "copy", id, "--to", db.url]));
  await good(on(["-p", "-r", id, "more"]));
  const before = await db.sql("select line from s.events order by seq");
  for (const more of [[], ["--move"]])
    expectProblem(await run(place, ["sessions", "copy", id, "--to", db.url, ...more]), 2, "session_exists");
  expect(await db.sql("select line from s.events order by seq")).toEqual(before);
  expect((await onlyLog(place)).id).toBe(id);
});

test("a session that is being written is refused, in files and in a database, also by --move", async () => {
  const { place, db } = await storePlace();
  const id = await sessionWithBlob(place);
  const other = await storePlace();
  await good(run(place, ["sessions", "copy", id, "--to", db.url]));
  const files = fileStore(place.sessions);
  const held = [
    await files.open(id, { mode: "write" }),
    await db.store({ name: "web-1" }).open(id, { mode: "write" }),
  ];
  for (const more of [[], ["--move"]]) {
    const fromFiles = await run(place, ["sessions", "copy", id, "--to", other.db.url, ...more]);
    expectProblem(fromFiles, 2, "session_locked");
    const args = ["sessions", "copy", id, "--to", other.db.url, "--store", db.url, ...more];
    const fromDatabase = await run(place, args);
    expectProblem(fromDatabase, 2, "session_locked");
    expect(fromDatabase.err).toContain("node web-1");
  }
  expect(await other.db.sql("select id from s.sessions")).toEqual([]);
  for (const log of held) await log.close();
});

test("--move removes the session where it was, after the copy was read back", async () => {
  const { place, db, on } = await storePlace();
  const id = await sessionWithBlob(place);
  const first = await exported(run(place, ["sessions", "export", id]));
  const moved = await good(run(place, ["sessions", "copy", id, "--to", db.url, "--move"]));
  expect(moved.out).toContain(`moved ${id}: `);
  expect((await logsOf(place)).size).toBe(0);
  expect(await exported(on(["sessions", "export", id]))).toBe(first);
  await good(on(["sessions", "copy", id, "--to", "files", "--move"]));
  expect(await db.sql("select id from s.sessions")).toEqual([]);
  expect(await db.sql("select 1 from s.events union all select 1 from s.blobs")).toEqual([]);
  expect(await exported(run(place, ["sessions", "export", id]))).toBe(first);
});

test("--move leaves the session where it was if the copy cannot be read back as it was written", async () => {
  const { place, db } = await storePlace();
  const id = await sessionWithBlob(place);
  const spoil = (table: string, body: string) =>
    db.sql(
      `create or replace function s.spoil() returns trigger language plpgsql as $$ begin ${body} end $$;
       create or replace trigger spoil before insert on s.${table} for each row execute function s.spoil()`,
    );
  await spoil("events", "new.line := replace(new.line, 'what', 'That'); return new;");
  expectProblem(await run(place, ["sessions", "copy", id, "--to", db.url, "--move"]), 2, "log_damaged");
  expect((await onlyLog(place)).id).toBe(id);
  await db.sql("drop trigger spoil on s.events");
  for (const table of ["events", "blobs", "sessions"]) await db.sql(`delete from s.${table}`);
  await spoil("blobs", "return null;"); // the blob is lost
  expectProblem(await run(place, ["sessions", "copy", id, "--to", db.url, "--move"]), 2, "log_not_confirmed");
  expect((await onlyLog(place)).id).toBe(id);
});

test("--move goes on after a copy that was cut off before the removal", async () => {
  const { place, db } = await storePlace();
  const id = await sessionWithBlob(place);
  await good(run(place, ["sessions", "copy", id, "--to", db.url]));
  await good(run(place, ["sessions", "copy", id, "--to", db.url, "--move"]));
  expect((await logsOf(place)).size).toBe(0);
  expect(await onlySession(db)).toBe(id);
});

test("--move leaves a session alone that has a waiting turn of a server", async () => {
  const { db, on } = await storePlace();
  await good(on(["-p", "hello"]));
  const id = await onlySession(db);
  await db.store().shared?.admitTurn(id, "turn-1", { input: "later" });
  expectProblem(await on(["sessions", "copy", id, "--to", "files", "--move"]), 2, "session_busy");
  expect(await onlySession(db)).toBe(id);
});

test("--all copies the others, names those it could not copy, and can be run again", async () => {
  const { place, db, on } = await storePlace();
  for (const name of ["one", "two", "three"]) await good(run(place, ["-p", `hello ${name}`]));
  const ids = [...(await logsOf(place)).keys()].toSorted();
  const [first = "", second = ""] = ids;
  // One is there with other content, and one is being written.
  await good(run(place, ["sessions", "copy", first, "--to", db.url]));
  await good(on(["-p", "-r", first, "more"]));
  const log = await fileStore(place.sessions).open(second, { mode: "write" });
  const ran = await run(place, ["sessions", "copy", "--all", "--to", db.url]);
  await log.close();
  expect(ran.code).toBe(1);
  expect(ran.out).toMatch(/^copied 1 session, \d+ events; 2 could not be copied\n$/);
  expect(ran.err).toContain(`${first}: the other store already has a session`);
  expect(ran.err).toMatch(new RegExp(`${second}: .*being written.* \\[session_locked\\]`));
  await good(on(["sessions", "rm", first, "--yes"]));
  const again = await good(run(place, ["sessions", "copy", "--all", "--to", db.url]));
  expect(again.out).toMatch(/^copied 2 sessions, \d+ events; 1 was there already\n$/);
  const nothing = await good(run(place, ["sessions", "copy", "--all", "--to", db.url]));
  expect(nothing.out).toBe("copied 0 sessions, 0 events; 3 were there already\n");
  await good(run(place, ["sessions", "copy", "--all", "--move", "--to", db.url]));
  expect((await logsOf(place)).size).toBe(0);
  const rows = await db.sql("select id from s.sessions order by id");
  expect(rows.map((row) => row["id"])).toEqual(ids);
});

test("bad usage: both places, none, the same place twice, a session with --all", async () => {
  const { place, db, on } = await storePlace();
  await good(on(["-p", "hello"]));
  const id = await onlySession(db);
  for (const [args, part] of [
    [["copy", id], "either --to or --from"],
    [["copy", id, "--to", "files", "--from", "files"], "either --to or --from"],
    [["copy", id, "--to", db.url], "the store that is in use already"],
    [["copy", id, "--all", "--to", "files"], "a session or --all, not both"],
  ] as const) {
    const ran = await on(["sessions", ...args]);
    expectProblem(ran, 2, "usage");
    expect(ran.err).toContain(part);
  }
  expectProblem(await on(["sessions", "copy", id, "--to", "somewhere"]), 2, "store_url_invalid");
  expectProblem(await run(place, ["sessions", "copy", "nope", "--to", db.url]), 2, "session_not_found");
});

test("one database under two addresses is one place: nothing is moved onto itself", async () => {
  const { db, on } = await storePlace();
  await good(on(["-p", "hello"]));
  const before = await db.sql("select line from s.events order by seq");
  const other = db.url.replace("postgres:", "postgresql:").replace("127.0.0.1", "localhost");
  expect(other).not.toBe(db.url);
  for (const args of [
    ["--all", "--move", "--to", other],
    ["--all", "--move", "--from", other],
    ["--last", "--to", other],
  ]) {
    const ran = await on(["sessions", "copy", ...args]);
    expectProblem(ran, 2, "usage");
    expect(ran.err).toContain("the store that is in use already");
  }
  // The same address with other options is another store in this process.
  const env = { THROUGHLINE_LEASE_MS: "9000" };
  expectProblem(await on(["sessions", "copy", "--all", "--move", "--to", db.url], { env }), 2, "usage");
  expect(await db.sql("select line from s.events order by seq")).toEqual(before);
});

async function titles(listed: ReturnType<typeof run>): Promise<readonly unknown[]> {
  return (JSON.parse((await good(listed)).out) as { readonly title: string }[]).map(({ title }) => title);
}

test("copies keep the order of the sessions, there and back", async () => {
  const { place, db, on } = await storePlace();
  for (const text of ["first", "second", "third"]) await good(run(place, ["-p", text]));
  const list = ["sessions", "list", "--json"];
  expect(await titles(run(place, list))).toEqual(["third", "second", "first"]);
  await good(run(place, ["sessions", "copy", "--all", "--move", "--to", db.url]));
  expect(await titles(on(list))).toEqual(["third", "second", "first"]);
  await good(on(["sessions", "copy", "--all", "--to", "files"]));
  expect(await titles(run(place, list))).toEqual(["third", "second", "first"]);
});
