/** The commands of an operator: migrate, store status, verify, prune and restored, erase and repair on a database. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { expectProblem, newPlace, run, start } from "../cli/harness.ts";
import { good, onlySession, type StorePlace, storePlace } from "./cli-fixture.ts";

/** A database whose sessions were made by these prompts, in this order. */
async function withSessions(...prompts: readonly string[]): Promise<StorePlace & { ids: readonly string[] }> {
  const made = await storePlace();
  for (const prompt of prompts) await good(made.on(["-p", prompt]));
  const rows = await made.db.sql("select id from s.sessions order by created_at");
  return { ...made, ids: rows.map((row) => String(row["id"])) };
}

test("migrate makes the tables once, says so, and prints statements with --dry-run", async () => {
  const { place, db } = await storePlace();
  await db.sql(`drop schema "${db.schema}" cascade`);
  const migrate = (...more: readonly string[]) =>
    run(place, ["migrate", ...more], { env: { THROUGHLINE_STORE: db.url } });
  expectProblem(await run(place, ["sessions"], { env: { THROUGHLINE_STORE: db.url } }), 2, "store_too_old");
  const dry = await good(migrate("--dry-run"));
  expect(dry.out).toContain(`create table "${db.schema}".events`);
  expect(dry.out).toMatch(
    /nothing was changed: \d+ statements would bring the tables of the store to version/,
  );
  expectProblem(await run(place, ["sessions", "--store", db.url]), 2, "store_too_old");
  expect((await good(migrate("--partitions", "4"))).out).toMatch(
    /^made the tables of the store: version \d+\n$/,
  );
  const parts = await db.sql(
    "select relname from pg_class where relname like 'events\\__' and relnamespace = $1::regnamespace",
    [`"${db.schema}"`],
  );
  expect(parts).toHaveLength(4);
  expect((await good(migrate())).out).toMatch(/^the store is up to date: version \d+\n$/);
  expectProblem(await migrate("--partitions", "8"), 2, "usage");
  expectProblem(await migrate("--partitions", "none"), 2, "number_invalid");
  await good(run(place, ["-p", "--store", db.url, "hello"]));
  const status = await good(run(place, ["store", "status", "--store", db.url]));
  expect(status.out).toContain("sessions     1 of 1 tenant, ");
});

test("several migrations at once all succeed, and one of them made the tables", async () => {
  const { place, db } = await storePlace();
  await db.sql(`drop schema "${db.schema}" cascade`);
  const all = await Promise.all(
    Array.from({ length: 4 }, () => good(run(place, ["migrate", "--store", db.url]))),
  );
  for (const { out } of all) expect(out).toMatch(/version \d+\n$/);
  await good(run(place, ["-p", "--store", db.url, "hello"]));
});

test("migrate and store need a database", async () => {
  const place = newPlace();
  for (const args of [["migrate"], ["store", "status"], ["store", "verify"], ["store", "restored"]]) {
    const ran = await run(place, args);
    expectProblem(ran, 2, "usage");
    expect(ran.err).toContain("name one with --store, or set THROUGHLINE_STORE");
  }
});

test("store status shows versions, nodes, sessions, what waits and sizes", async () => {
  const { db, on, ids } = await withSessions("hello", "hello again");
  const [held = "", asked = ""] = ids;
  const web = db.store({ name: "web-1", pool: "web" });
  const log = await web.open(held, { mode: "write" });
  await db.store().shared?.admitTurn(asked, "turn-1", { input: "later" });
  await db.sql(
    `insert into s.nodes (id, name, pool, program, incarnation, lease_until)
     select gen_random_uuid(), 'web-0', 'web', 'throughline 0', incarnation, clock_timestamp() - interval '5 min' from s.store`,
  );
  const json = JSON.parse((await good(on(["store", "status", "--json"]))).out) as Record<string, unknown>;
  expect(json).toMatchObject({
    version: 1,
    programVersion: 1,
    sessions: { count: 2, tenants: 1, held: 1, openTurns: 0, waiting: 1 },
    inbox: { entries: 1 },
    hints: "listening",
    prepared: true,
    noticesRestore: true,
    nodes: [
      { name: "web-1", pool: "web", alive: true, draining: false, sessions: 1 },
      { name: "web-0", pool: "web", alive: false, sessions: 0 },
    ],
  });
  expect((json["tables"] as readonly { name: string; bytes: number }[]).map(({ name }) => name)).toEqual(
    expect.arrayContaining(["sessions", "events", "blobs", "live", "inbox"]),
  );
  const text = (await good(on(["store", "status"]))).out;
  expect(text).toMatch(/^nodes {8}web-1 {2}pool web, throughline .+, alive, lease \d+ s, 1 session$/m);
  expect(text).toMatch(
    /^ {13}web-0 {2}pool web, throughline 0, gone, its lease ended 5 min ago, 0 sessions$/m,
  );
  expect(text).toContain("inbox        1 waiting request, the oldest from ");
  expect(text).toContain("hints        LISTEN works");
  await log.close();
});

test("store verify finds nothing in a sound store, also in a sample and in one tenant", async () => {
  const { db, on } = await withSessions("hello", "What is the time?");
  const other = db.store({ tenant: "acme" });
  await other.create("s_acme", { events: [], blobs: new Map() });
  const all = await good(on(["store", "verify"]));
  expect(all.out).toMatch(/^checked 3 sessions, \d+ events, [\d.]+ KiB: nothing is damaged\n$/);
  expect((await good(on(["store", "verify", "--sample", "1"]))).out).toContain("checked 1 session, ");
  expect((await good(on(["store", "verify", "--tenant", "acme"]))).out).toContain("checked 1 session, 0 ev");
});

test("store verify names each damaged session and the event, and repair saves the rest", async () => {
  const { db, on, ids } = await withSessions("one", "two", "three", "four", "five", "six");
  const [changed = "", lost = "", cut = "", beyond = "", size = "", sound = ""] = ids;
  await db.sql("update s.events set line = replace(line, 'one', 'uno') where session = $1 and seq = 1", [
    changed,
  ]);
  await db.sql("delete from s.events where session = $1 and seq = 3", [lost]);
  await db.sql("delete from s.events where session = $1 and seq >= 5", [cut]);
  await db.sql("update s.sessions set next_seq = next_seq - 2 where id = $1", [beyond]);
  await db.sql("update s.sessions set bytes = bytes + 1 where id = $1", [size]);
  await db.sql("insert into s.blobs (tenant, session, name, bytes) values ('', $1, $2, 'x')", [
    size,
    "0".repeat(64),
  ]);
  const [row] = await db.sql("select next_seq from s.sessions where id = $1", [beyond]);
  const ran = await on(["store", "verify"]);
  expect(ran.code).toBe(1);
  expect(ran.out).toContain(`${changed} at event 1: the checksum does not match\n`);
  expect(ran.out).toContain(`${lost} at event 3: event 3 is missing\n`);
  expect(ran.out).toMatch(new RegExp(`^${cut} at event 5: events 5 to \\d+ are missing$`, "m"));
  const end = String(row?.["next_seq"]);
  expect(ran.out).toContain(`${beyond} at event ${end}: event ${end} is behind the end of the log\n`);
  expect(ran.out).toMatch(new RegExp(`^${size}: its row says \\d+ bytes, but its events have \\d+$`, "m"));
  expect(ran.out).toContain(`${size}: blob ${"0".repeat(64)} does not match its name\n`);
  expect(ran.out).not.toContain(sound);
  expect(ran.out).toContain("5 damaged sessions\n");

  expectProblem(await on(["-p", "-r", changed, "hi"]), 2, "log_damaged");
  const repaired = await good(on(["repair", changed]));
  expect(repaired.out).toContain("the checksum does not match");
  expect(repaired.out).toContain(`written to session ${changed}-repaired in the PostgreSQL store`);
  await good(on(["-p", "-r", `${changed}-repaired`, "hi"]));
  const end2 = await good(on(["repair", cut]));
  expect(end2.out).toMatch(/the session should have \d+ events, and 5 are there/);
  await good(on(["-p", "-r", `${cut}-repaired`, "hi"]));
  expectProblem(await on(["repair", changed]), 2, "file_exists");
});

test("repair of a damaged session can write a file instead", async () => {
  const { place, db, on, ids } = await withSessions("one");
  const [id = ""] = ids;
  await db.sql("delete from s.events where session = $1 and seq = 3", [id]);
  await good(on(["repair", id, "-o", "saved.jsonl"]));
  expect(place.read("saved.jsonl")).toContain('"code":"line_lost"');
});

test("store prune removes what is old and idle, asks first, and keeps the rest", async () => {
  const { db, on, ids } = await withSessions("old", "held", "waiting", "open", "new");
  const [old = "", held = "", waiting = "", open = "", fresh = ""] = ids;
  await db.sql("update s.sessions set modified_at = modified_at - interval '100 days' where id <> $1", [
    fresh,
  ]);
  const log = await db.store({ name: "web-1" }).open(held, { mode: "write" });
  await db.store().shared?.admitTurn(waiting, "turn-1", { input: "later" });
  await db.sql("update s.sessions set open_turn = 'turn-2' where id = $1", [open]);
  const dry = await good(on(["store", "prune", "--older-than", "90d", "--dry-run"]));
  expect(dry.out).toMatch(/^would remove 1 session \([\d.]+ KiB\) not changed for 90d\n$/);
  const asked = await on(["store", "prune", "--older-than", "90d"]);
  expect(asked).toMatchObject({ code: 2, out: "" });
  expect(asked.err).toContain("add --yes to do it");
  expect(await db.sql("select id from s.sessions")).toHaveLength(5);
  expect((await good(on(["store", "prune", "--older-than", "90d", "--tenant", "acme", "--yes"]))).out).toBe(
    "no sessions to remove\n",
  );
  const pruned = await good(on(["store", "prune", "--older-than", "90d", "--yes"]));
  expect(pruned.out).toMatch(/^removed 1 session \([\d.]+ KiB\)\n$/);
  const left = await db.sql("select id from s.sessions order by created_at");
  expect(left.map((row) => row["id"])).toEqual([held, waiting, open, fresh]);
  expect(await db.sql("select 1 from s.events where session = $1", [old])).toEqual([]);
  await log.close();
  for (const age of ["90", "0d", "-1d", "soon", ""])
    expectProblem(await on(["store", "prune", "--older-than", age, "--yes"]), 2, "number_invalid");
  expectProblem(await on(["store", "prune", "--yes"]), 2, "usage");
});

test("store prune goes through more than one batch", async () => {
  const { db, on } = await storePlace();
  await db.sql(
    `insert into s.sessions (tenant, id, made, modified_at)
     select '', 's_' || n, true, clock_timestamp() - interval '1 year' from generate_series(1, 250) as n`,
  );
  expect((await good(on(["store", "prune", "--older-than", "4w", "--yes"]))).out).toBe(
    "removed 250 sessions (0 bytes)\n",
  );
  expect(await db.sql("select id from s.sessions")).toEqual([]);
});

test("store restored voids the leases of all nodes and says what follows", async () => {
  const { db, on, ids } = await withSessions("hello");
  const [id = ""] = ids;
  const log = await db.store({ name: "web-1", leaseMs: 900 }).open(id, { mode: "write" });
  const [before] = await db.sql("select incarnation from s.store");
  const ran = await good(on(["store", "restored"]));
  expect(ran.out).toMatch(
    /^the store is marked as restored\n1 running node loses its sessions within its lease/,
  );
  const [after] = await db.sql("select incarnation from s.store");
  expect(after?.["incarnation"]).not.toBe(before?.["incarnation"]);
  if (!log.lost.aborted) await once(log.lost, "abort");
  expect(log.lost.reason).toMatchObject({ code: "session_fenced" });
  await log.close();
  await good(on(["-p", "-r", id, "hello"]));
});

test("sessions erase removes a secret from the log, from waiting requests and from stray blobs", async () => {
  const { place, db, on, ids } = await withSessions("my password is hunter2-hunter2");
  const [id = ""] = ids;
  place.write("secret.txt", "hunter2-hunter2\n");
  await db.store().shared?.admitTurn(id, "turn-9", { input: "hunter2-hunter2" });
  await db.sql("insert into s.blobs (tenant, session, name, bytes) values ('', $1, $2, $3)", [
    id,
    "a".repeat(64),
    Buffer.from("so hunter2-hunter2 it is"),
  ]);
  const copied = await good(on(["sessions", "erase", id, "--secret-file", "secret.txt"]));
  expect(copied.out).toContain("still contains it: waiting request turn-9");
  expect(copied.out).toContain(`still contains it: blob ${"a".repeat(64)}`);
  expect(copied.out).toContain(`written as ${id}-erased`);
  await good(on(["sessions", "rm", `${id}-erased`, "--yes"]));
  const replaced = await good(on(["sessions", "erase", id, "--secret-file", "secret.txt", "--replace"]));
  expect(replaced.out).toContain("Backups, replicas and the write-ahead log of the database");
  const texts = await db.sql(
    `select line as text from s.events union all select body from s.inbox union all select body from s.live
     union all select coalesce(summary, '') from s.sessions union all select encode(bytes, 'escape') from s.blobs`,
  );
  expect(texts.length).toBeGreaterThan(3);
  expect(texts.filter(({ text }) => String(text).includes("hunter2"))).toEqual([]);
  expect((await good(on(["store", "verify"]))).out).toContain("nothing is damaged");
  await good(on(["-p", "-r", id, "hello"]));
});

test("sessions erase --replace is refused while a node writes the session", async () => {
  const { place, db, on, ids } = await withSessions("my password is hunter2-hunter2");
  const [id = ""] = ids;
  place.write("secret.txt", "hunter2-hunter2\n");
  const log = await db.store({ name: "web-1" }).open(id, { mode: "write" });
  const ran = await on(["sessions", "erase", id, "--secret-file", "secret.txt", "--replace"]);
  expectProblem(ran, 2, "session_locked");
  await log.close();
});

test("serve is a node with a pool, a name and a lease, migrates if told to, and leaves at a signal", async () => {
  const { place, db } = await storePlace();
  await db.sql(`drop schema "${db.schema}" cascade`);
  const args = ["serve", "--port", "0", "--store", db.url];
  expectProblem(await run(place, args), 2, "store_too_old");
  const flags = ["--migrate", "--pool", "web", "--node-name", "web-1", "--lease", "5000", "--drain", "1"];
  const server = start(place, [...args, ...flags]);
  await server.seen(({ out }) => out.includes("http://"), "its link");
  expect(server.err).toContain("made the tables of the store: version 1");
  const found = await run(place, ["store", "status", "--json", "--store", db.url]);
  expect(JSON.parse(found.out)).toMatchObject({ nodes: [{ name: "web-1", pool: "web", alive: true }] });
  const [row] = await db.sql("select models from s.nodes");
  expect(String(row?.["models"])).toMatch(/^[0-9a-f]{12}$/);
  server.kill("SIGTERM");
  const ended = await server.ended;
  expect(ended.code).toBe(0);
  expect(ended.err).toContain("running turns have 1 s to end; then other servers of the pool go on");
  expect(await db.sql("select name from s.nodes")).toEqual([]);
});

test("the flags of a node need a database, and valid values", async () => {
  const { place, db } = await storePlace();
  for (const flag of [
    ["--pool", "web"],
    ["--drain", "3"],
    ["--lease", "900"],
    ["--node-name", "n"],
    ["--migrate"],
  ]) {
    const ran = await run(place, ["serve", "--port", "0", ...flag]);
    expectProblem(ran, 2, "usage");
    expect(ran.err).toContain(`${flag[0]} works only with a PostgreSQL store`);
  }
  for (const [flag, code] of [
    [["--pool", "a b"], "usage"],
    [["--drain", "-1"], "number_invalid"],
    [["--lease", "10"], "number_invalid"],
    [["--node-name", ""], "usage"],
  ] as const)
    expectProblem(await run(place, ["serve", "--port", "0", "--store", db.url, ...flag]), 2, code);
});

test("a whole session is kept in files only where a command was told to", async () => {
  const { place, db, on } = await storePlace();
  await good(on(["-p", "hello"]));
  const id = await onlySession(db);
  await good(on(["sessions", "export", id, "-o", "kept.jsonl"]));
  const text = readFileSync(join(place.work, "kept.jsonl"), "utf8");
  const rows = await db.sql("select line from s.events where session = $1 order by seq", [id]);
  expect(text.startsWith(rows.map(({ line }) => `${String(line)}\n`).join(""))).toBe(true);
});
