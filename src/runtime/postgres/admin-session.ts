/**
 * What the command line does to a session beyond the contract of a store: read one that is damaged, replace one, remove
 * one only if nothing has happened to it since.
 */

import { codedError } from "../../base/support/index.ts";
import { factsOf, summaryOf } from "../facts/index.ts";
import { assertWritable, locked, notFound, scanLines, type SessionBundle } from "../log/index.ts";
import type { Engine } from "./engine.ts";
import type { Row } from "./lane.ts";
import { quoted } from "./migrate.ts";
import { storeError } from "./problems.ts";
import { summaryText } from "./summaries.ts";
import { insertRows, type Run } from "./whole-session.ts";

type Whole = Pick<SessionBundle, "lines" | "blobs">;

const PAGE = 1000;

/** The lines of a session as they are, damaged or not, and the blobs that match their names. */
export async function rawSession(
  engine: Engine,
  tenant: string,
  id: string,
): Promise<Whole & { readonly problem?: string }> {
  await engine.identity.check();
  const { connections, schema } = engine;
  const s = quoted(schema);
  const row = await lookAt(engine, tenant, id);
  if (row?.["made"] !== true) throw notFound(id);
  const lines: string[] = [];
  const text = `select e.seq::text as seq, e.line from ${s}.events e
                 where e.tenant = $1 and e.session = $2 and e.seq > $3 order by e.seq limit ${PAGE}`;
  for (let last = "-1"; ;) {
    const rows = await connections.read({ text }, [tenant, id, last]);
    for (const { line } of rows) lines.push(String(line));
    if (rows.length < PAGE) break;
    last = String(rows.at(-1)?.["seq"]);
  }
  const blobs = new Map<string, Uint8Array>();
  const one = `select name, bytes from ${s}.blobs where tenant = $1 and session = $2 and name > $3
                  and name = encode(sha256(bytes), 'hex') order by name limit 1`;
  for (let last = ""; ;) {
    const [blob] = await connections.read({ text: one }, [tenant, id, last]);
    if (blob === undefined) break;
    last = String(blob["name"]);
    blobs.set(last, blob["bytes"] as Buffer);
  }
  const whole = { lines: Buffer.concat(lines.map((line) => Buffer.from(`${line}\n`, "utf8"))), blobs };
  const expected = Number(row["next_seq"]);
  return lines.length >= expected
    ? whole
    : { ...whole, problem: `the session should have ${expected} events, and ${lines.length} are there` };
}

/** Something that is kept with a session and is not part of its log. */
export interface Beside {
  readonly name: string;
  readonly bytes: Buffer;
}

/** What a copy of the session leaves behind: live rows, requests that wait, and blobs that no event names. */
export async function* besideSession(
  engine: Engine,
  tenant: string,
  id: string,
  named: ReadonlySet<string>,
): AsyncGenerator<Beside> {
  const { connections, schema } = engine;
  const s = quoted(schema);
  const of = [tenant, id];
  for (const row of await connections.read(
    { text: `select body from ${s}.live where tenant = $1 and session = $2 order by fence, n` },
    of,
  ))
    yield { name: "a live row", bytes: Buffer.from(String(row["body"]), "utf8") };
  for (const row of await connections.read(
    { text: `select key, body from ${s}.inbox where tenant = $1 and session = $2 order by n` },
    of,
  ))
    yield { name: `waiting request ${String(row["key"])}`, bytes: Buffer.from(String(row["body"]), "utf8") };
  const names = await connections.read(
    { text: `select name from ${s}.blobs where tenant = $1 and session = $2 order by name` },
    of,
  );
  for (const name of names.map((row) => String(row["name"])).filter((one) => !named.has(one))) {
    const [row] = await connections.read(engine.statements.getBlob, [tenant, id, name]);
    if (row !== undefined) yield { name: `blob ${name}`, bytes: row["bytes"] as Buffer };
  }
}

/**
 * Puts another content in the place of a session, in one transaction. Everything that belonged to the old one goes.
 * Refused while a living node holds the session.
 */
export async function replaceSession(
  engine: Engine,
  tenant: string,
  id: string,
  { lines, blobs }: Whole,
): Promise<void> {
  assertWritable(lines, id);
  const { events } = scanLines(lines, { offset: 0, firstSeq: 0, lowestEpoch: 0, session: id });
  const facts = factsOf(events);
  const s = quoted(engine.schema);
  const { fence } = await lookFree(engine, tenant, id);
  await inTransaction(engine, async (run) => {
    if (!(await claim(run, s, { tenant, id, fence }))) throw taken(id);
    await deleteRows(run, s, tenant, id);
    // Readers see by the time of its making that it is another session.
    await run(
      `update ${s}.sessions set next_seq = $3, bytes = $4, holder = null, open_turn = $5, wake_at = null, takeovers = 0,
              summary = $6, incarnation = $7, created_at = clock_timestamp(), modified_at = clock_timestamp()
        where tenant = $1 and id = $2`,
      [
        tenant,
        id,
        events.length,
        lines.length,
        facts.openTurn ?? null,
        summaryText(id, summaryOf(facts)),
        engine.identity.incarnation,
      ],
    );
    await insertRows(run, s, { tenant, id, lines, blobs });
  });
  engine.hint([id]);
}

/** Removes a session that has exactly this many events, nothing to do, and no living writer. */
export async function removeUnchanged(
  engine: Engine,
  tenant: string,
  id: string,
  events: number,
): Promise<void> {
  const s = quoted(engine.schema);
  const { fence, asked, nextSeq } = await lookFree(engine, tenant, id);
  await inTransaction(engine, async (run) => {
    const waits = `select 1 from ${s}.inbox where tenant = $1 and session = $2 limit 1`;
    const isSame = nextSeq === events && (await claim(run, s, { tenant, id, fence, asked }));
    if (!isSame || (await run(waits, [tenant, id])).length > 0)
      throw codedError(
        "session_locked",
        `session "${id}" was changed after it was copied, so it was not removed. Compare the two and remove one`,
      );
    await deleteRows(run, s, tenant, id);
    await run(`delete from ${s}.sessions where tenant = $1 and id = $2`, [tenant, id]);
  });
  engine.hint([id]);
}

/**
 * Raises the fence of a session, so that nobody acquires it on what they looked at before. False: somebody acquired it
 * meanwhile or, if `asked` is given, asked something of it.
 */
export async function claim(
  run: Run,
  s: string,
  session: {
    readonly tenant: string;
    readonly id: string;
    readonly fence: string;
    readonly asked?: string | undefined;
  },
): Promise<boolean> {
  const { tenant, id, fence, asked } = session;
  const [row] = await run(
    `update ${s}.sessions set fence = fence + 1
      where tenant = $1 and id = $2 and fence = $3 and ($4::bigint is null or asked = $4) returning 1`,
    [tenant, id, fence, asked ?? null],
  );
  return row !== undefined;
}

/** Everything but the row of the session itself. */
export async function deleteRows(run: Run, s: string, tenant: string, id: string): Promise<void> {
  for (const table of ["live", "inbox", "blobs", "events"])
    await run(`delete from ${s}.${table} where tenant = $1 and session = $2`, [tenant, id]);
}

export async function inTransaction<T>(engine: Engine, work: (run: Run) => Promise<T>): Promise<T> {
  try {
    return await engine.connections.large.transaction(work);
  } catch (error) {
    throw storeError(error);
  }
}

interface Looked {
  readonly fence: string;
  readonly asked: string;
  readonly nextSeq: number;
}

/** Rejects if a living node holds the session. */
async function lookFree(engine: Engine, tenant: string, id: string): Promise<Looked> {
  await engine.identity.check();
  const row = await lookAt(engine, tenant, id);
  if (row?.["made"] !== true) throw notFound(id);
  if (row["alive"] === true) throw locked(id, `node ${String(row["holder_name"])}`);
  return { fence: String(row["fence"]), asked: String(row["asked"]), nextSeq: Number(row["next_seq"]) };
}

async function lookAt(engine: Engine, tenant: string, id: string): Promise<Row | undefined> {
  return (await engine.connections.read(engine.statements.look, [tenant, id]))[0];
}

function taken(id: string): Error {
  return codedError("session_locked", `session "${id}" was taken by another node. Try again`);
}
