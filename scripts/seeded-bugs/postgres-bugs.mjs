/**
 * Bugs of stores that several machines share, and the test that must fail when one is planted. All of them need a
 * PostgreSQL server, so they name the configuration of those tests.
 */

const statements = "src/runtime/postgres/statements.ts";
const appender = "src/runtime/postgres/appender.ts";
const GUARD = "`s.fence = ${fence} and s.holder = ${holder} and s.next_seq = ${seq}`";

const list = [
  {
    what: "no fence in the guard of an append",
    file: statements,
    find: GUARD,
    replace: "`${fence} is not null and s.holder = ${holder} and s.next_seq = ${seq}`",
    test: "append",
    named: "an append is refused if the fence alone",
  },
  {
    what: "no holder in the guard of an append",
    file: statements,
    find: GUARD,
    replace: "`s.fence = ${fence} and ${holder} is not null and s.next_seq = ${seq}`",
    test: "append",
    named: "an append is refused if the holder alone",
  },
  {
    what: "no next_seq in the guard of an append",
    file: statements,
    find: GUARD,
    replace: "`s.fence = ${fence} and s.holder = ${holder} and ${seq} is not null`",
    test: "append",
    named: "an append is refused if the seq alone",
  },
  {
    what: "a refused append is taken for its own repeat without comparing the rows",
    file: appender,
    find: "      const same = lines.length === found.length && found.every(({ line }, index) => line === lines[index]);\n",
    replace: "      const same = lines.length === found.length;\n",
    test: "append",
    named: "an append is not taken for its own because another writer wrote at the same place",
  },
  {
    what: "an append that got no answer is not repeated",
    file: appender,
    find: '        if (outcomeOf(error) === "no") throw error;\n        const isOurs',
    replace: '        if (outcomeOf(error) !== "again") throw error;\n        const isOurs',
    test: "append",
    named: "an append whose answer is lost once, with the connection",
  },
  {
    what: "a writer goes on although it does not know what became of its append",
    file: appender,
    find: 'if (known.code === "session_fenced") return this.#settle(source, { how: "lost", error: known });',
    replace:
      'if (known.code === "session_fenced") return this.#settle(source, { how: "failed", error: known });',
    test: "append",
    named: "a writer that does not learn what became of its append until its lease is over is lost",
  },
  {
    what: "a group is not sent again without the member that took it down",
    file: appender,
    find: 'if (taken.length > 1 && (sqlState(error) === "23505" || isHeldUp(error))) {',
    replace: "if (taken.length > 1 && isHeldUp(error)) {",
    test: "append",
    named: "a member of a group whose place is taken is refused",
  },
  {
    what: "a session that waits for a lock is lost",
    file: appender,
    find: "if (!isPatient && isHeldUp(error) && this.#node.leftMs > 0) {",
    replace: "if (!isPatient && isHeldUp(error) && this.#node.leftMs < 0) {",
    test: "locks",
    named: "a row that somebody holds stops its own session",
  },
  {
    what: "a hint is sent before the commit",
    file: appender,
    find: "    const started = performance.now();\n    let wait = FIRST_WAIT_MS;\n",
    replace:
      "    const started = performance.now();\n    this.onWritten(taken.map(({ batch }) => batch));\n    let wait = FIRST_WAIT_MS;\n",
    test: "watch",
    named: "a hint is sent when what it tells of can be read, and not before",
  },
  {
    what: "a lease is counted by the clock of its node",
    file: "src/runtime/postgres/node.ts",
    find: "      this.#models ?? null,\n      leaseMs,\n",
    replace: "      this.#models ?? null,\n      leaseMs + (this.#clock.now() - Date.now()),\n",
    test: "lease",
    named: "a node whose clock is wrong by",
  },
  {
    what: "an expired lease is renewed",
    file: statements,
    find: "where id = $1 and lease_until > clock_timestamp()\n",
    replace: "where id = $1\n",
    test: "lease",
    named: "an expired lease is never renewed",
  },
  {
    what: "a session is acquired by whoever asks, not by compare-and-swap",
    file: statements,
    find: "        where s.tenant = $1 and s.id = $2 and s.fence = $3\n          and exists",
    replace: "        where s.tenant = $1 and s.id = $2 and $3::bigint is not null\n          and exists",
    test: "lease",
    named: "of eight nodes that race for a session there is one winner",
  },
  {
    what: "a node whose deadline has passed still acts",
    file: "src/runtime/postgres/node.ts",
    find: "    return this.leftMs > this.leaseMs / 5;\n",
    replace: "    return this.#id !== undefined;\n",
    test: "lease",
    named: "a writer acts until a fifth of its lease is left",
  },
  {
    what: "a session whose acquisition was never answered stays with its node",
    file: "src/runtime/postgres/postgres-store.ts",
    find: "        engine.releases.doubt(next);\n",
    replace: "",
    test: "unknown",
    named: "a session whose acquisition was never answered is free for other nodes",
  },
  {
    what: "a release does not look at what was asked meanwhile",
    file: statements,
    find: 'wake_at = case when s.open_turn is null and ${settled("$5")} then null',
    replace: "wake_at = case when s.open_turn is null and $5::bigint is not null then null",
    test: "inbox",
    named: "no admission is lost beside a release",
  },
  {
    what: "an end of a turn does not look at what was asked meanwhile",
    file: statements,
    find: "wake_at = case when ${openTurn} is null and ${settled(asked)} then null",
    replace: "wake_at = case when ${openTurn} is null and ${asked} is not null then null",
    test: "inbox",
    named: "no admission is lost beside the end of a turn whose node dies then",
  },
  {
    what: "a request that was read counts as done",
    file: statements,
    find: "`s.asked = ${seen} and not exists (select 1 from ${s}.inbox i where i.tenant = s.tenant and i.session = s.id)`",
    replace: "`s.asked = ${seen}`",
    test: "inbox",
    named: "a waiting turn that its holder has seen and not begun is found when the holder dies",
  },
  {
    what: "live rows of a dead writer are shown",
    file: statements,
    find: "l.session = h.id and l.fence = h.now_fence\n",
    replace: "l.session = h.id\n",
    test: "watch",
    named: "rows of a writer that is gone are not shown to viewers",
  },
  {
    what: "a live row that two looks have found is shown twice",
    file: "src/runtime/postgres/watcher.ts",
    find: 'row["kind"] === "l" && isBehind(entry, row)',
    replace: 'row["kind"] === "l" && (isBehind(entry, row) || true)',
    test: "watch",
    named: "a row that two looks at once have found is shown once",
  },
  {
    what: "nobody notices that the database is another one",
    file: "src/runtime/postgres/identity.ts",
    find: 'if (row["system_id"] === systemId && row["timeline"] === timeline) return',
    replace: 'if (row["system_id"] === systemId || row["timeline"] !== "") return',
    test: "restored",
    named: "is a new incarnation from the next renewal on",
  },
  {
    what: "a lease of an earlier incarnation counts",
    file: statements,
    find: '"coalesce(n.lease_until > clock_timestamp() and n.incarnation = st.incarnation, false)"',
    replace: '"coalesce(n.lease_until > clock_timestamp(), false)"',
    test: "restored",
    named: "every lease of before is void",
  },
  {
    what: "the tenant is missing where an inbox is read",
    file: statements,
    find: "         from ${s}.sessions x left join ${s}.inbox i on i.tenant = x.tenant and i.session = x.id\n",
    replace: "         from ${s}.sessions x left join ${s}.inbox i on i.session = x.id\n",
    test: "tenants-asked",
    named: "commands: each tenant's holder gets its own",
  },
  {
    what: "the tenant is missing where lines are read",
    file: statements,
    find: "`select line from ${s}.events where tenant = $1 and session = $2 and seq >= $3 and seq < $4 order by seq limit $5`",
    replace:
      "`select line from ${s}.events where $1::text is not null and session = $2 and seq >= $3 and seq < $4 order by seq limit $5`",
    test: "tenants",
    named: "open: logs with the same id are two logs",
  },
  {
    what: "the tenant is missing where a session is removed",
    file: "src/runtime/postgres/whole-session.ts",
    find: "await run(`delete from ${s}.${table} where tenant = $1 and session = $2`, [tenant, id]);",
    replace:
      "await run(`delete from ${s}.${table} where $1::text is not null and session = $2`, [tenant, id]);",
    test: "tenants",
    named: "remove: everything of the other tenant's session stays",
  },
  {
    what: "a migration changes settings of its connection",
    file: "src/runtime/postgres/migrate.ts",
    find: "await run(\"set local lock_timeout = '3s'\");",
    replace: "await run(\"set lock_timeout = '3s'\");",
    test: "pooler",
    named: "a migration keeps its settings to its transaction",
  },
  {
    what: "a node hears its own hint and takes a pooler for a server",
    file: "src/runtime/postgres/hints.ts",
    find: "      await notify(this.#channel, `${this.#self}?`);\n",
    replace:
      "      void notify;\n      await client.query({ text: NOTIFY, values: [this.#channel, `${this.#self}?`] });\n",
    test: "pooler",
    named: "hints do not arrive, so the nodes poll, and say so",
    needs: "pgbouncer",
  },
];

/** @type {readonly import("../planting.mjs").Planted[]} */
export const postgresBugs = list.map(({ test, ...bug }) => ({
  ...bug,
  tests: [`test/postgres/${test}.test.ts`],
  config: "vitest.postgres.config.ts",
}));
