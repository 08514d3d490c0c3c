/** `doctor` on a database: one finding for each thing that can be wrong, and none of the address. */

import { expect, test } from "vitest";

import { run, type Ran } from "../cli/harness.ts";
import { afterTest } from "../support/clean-up.ts";
import { poolerProgram, startPooler } from "../support/pgbouncer.ts";
import { startCluster } from "../support/postgres-cluster.ts";
import { good, onlySession, type StorePlace, storePlace } from "./cli-fixture.ts";

interface Finding {
  readonly check: string;
  readonly status: "ok" | "note" | "bad";
  readonly message: string;
  readonly fix?: string;
}

async function findingsOf({ on }: Pick<StorePlace, "on">): Promise<readonly Finding[]> {
  const ran = await on(["doctor", "--json"]);
  const { findings } = JSON.parse(ran.out) as { readonly findings: readonly Finding[] };
  return findings.filter(({ check }) => ["store", "nodes", "clock"].includes(check));
}

function expectFinding(found: readonly Finding[], status: Finding["status"], part: string): void {
  const lines = found.map((one) => `${one.status} ${one.message} ${one.fix ?? ""}`);
  expect(
    lines.filter((line) => line.startsWith(status) && line.includes(part)),
    lines.join("\n"),
  ).toHaveLength(1);
}

test("a sound store has only good findings, but for the server's own settings", async () => {
  const place = await storePlace();
  const found = await findingsOf(place);
  expect(found.filter(({ status, message }) => status !== "ok" && !message.startsWith("fsync"))).toEqual([]);
  for (const part of [
    "PostgreSQL",
    "the server is on this machine",
    "the encoding is UTF8",
    "the tables have version 1",
    "has all rights",
    "compress",
    "the clocks of this machine and the server agree",
    "hints between nodes work",
    "prepared by name",
    "a restored database is noticed by itself",
  ])
    expectFinding(found, "ok", part);
});

test("settings of the server that risk acknowledged events are named", async () => {
  const cluster = await startCluster({
    settings: ["fsync = off", "full_page_writes = off", "synchronous_commit = off"],
  });
  afterTest(() => cluster.remove());
  const { place } = await storePlace();
  const on = (args: readonly string[]): Promise<Ran> => run(place, [...args, "--store", cluster.url]);
  await good(on(["migrate"]));
  const found = await findingsOf({ on });
  for (const name of ["fsync", "full_page_writes", "synchronous_commit"])
    expectFinding(found, "note", `${name} is off`);
});

test("dead nodes, a stuck inbox, different models, no timeline and an old version are found", async () => {
  const made = await storePlace();
  const { db, on } = made;
  await good(on(["-p", "hello"]));
  const id = await onlySession(db);
  await db.sql("update s.sessions set holder = gen_random_uuid(), open_turn = 'turn-1'");
  await db.sql(
    `insert into s.nodes (id, name, pool, program, models, incarnation, lease_until)
     select gen_random_uuid(), n.name, 'web', 'throughline 0', n.name, incarnation, clock_timestamp() + interval '1 hour'
       from s.store, unnest(array['a', 'b']) as n(name)`,
  );
  await db.sql(
    "insert into s.inbox (tenant, session, key, kind, body, n, at) values ('', $1, 'turn-2', 'send', '{}', 1, clock_timestamp() - interval '5 min')",
    [id],
  );
  const found = await findingsOf(made);
  expectFinding(found, "note", "an unknown node is gone and still holds 1 session with 1 open turn");
  expectFinding(found, "note", "1 request waits for a node, the oldest for 5 min");
  expectFinding(found, "bad", "the nodes of pool web have different models or keys");
  await db.sql("update s.store set version = 0");
  expectFinding(await findingsOf(made), "bad", "run throughline migrate");
  await db.sql("update s.store set version = 7");
  expectFinding(await findingsOf(made), "bad", "update throughline");
});

test("a role without the right to see the timeline is told what to do after a restore", async () => {
  const { place, db } = await storePlace();
  const role = `watcher_${db.schema}`;
  await db.sql(`create role ${role} login`);
  afterTest(async () => {
    await db.sql(`drop owned by ${role}`);
    await db.sql(`drop role ${role}`);
  });
  await db.sql(`grant usage on schema "${db.schema}" to ${role}`);
  await db.sql(`grant select, insert, update, delete on all tables in schema "${db.schema}" to ${role}`);
  await db.sql("revoke execute on function pg_control_system() from public");
  afterTest(() => db.sql("grant execute on function pg_control_system() to public"));
  const url = db.url.replace("postgres@", `${role}@`);
  const on = (args: readonly string[]): Promise<Ran> => run(place, [...args, "--store", url]);
  await good(on(["-p", "hello"]));
  expectFinding(await findingsOf({ on }), "note", "run throughline store restored before the servers start");
  expect((await good(on(["store", "status"]))).out).toContain("restores     not noticed");
});

test.skipIf(poolerProgram() === undefined)(
  "behind a pooler nodes poll, and an address without it lets hints through",
  async () => {
    const { place, db } = await storePlace();
    const pooler = await startPooler({ server: Number(new URL(db.url).port), size: 2 });
    afterTest(() => pooler.stop());
    const env = { THROUGHLINE_STORE: pooler.through(db.url) };
    const on = (args: readonly string[]): Promise<Ran> => run(place, args, { env });
    await good(on(["-p", "Think of a number."]));
    expect((await good(on(["-p", "-c", "Which number did you think of?"]))).out).toMatch(/I thought of \d+/);
    expectFinding(await findingsOf({ on }), "note", "LISTEN does not work here");
    expect((await good(on(["store", "status"]))).out).toContain("hints        polling");
    const direct = { ...env, THROUGHLINE_STORE_DIRECT: db.url };
    const status = await good(run(place, ["store", "status"], { env: direct }));
    expect(status.out).toContain("hints        LISTEN works");
  },
);

test("without a connection to the database, --offline says that it was not contacted", async () => {
  const { place } = await storePlace();
  const ran = await good(
    run(place, ["doctor", "--offline"], { env: { THROUGHLINE_STORE: "postgres://u@127.0.0.1:1/x" } }),
  );
  expect(ran.out).toContain(
    "note store      the sessions are in a PostgreSQL store, which was not contacted",
  );
});
