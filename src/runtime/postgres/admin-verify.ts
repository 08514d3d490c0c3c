/**
 * Checks every session of a store: the checksum, number and epoch of each line, the number and size of its events
 * against its row, and blobs against their names. Reads in pages of bounded size, so a store of any size needs the same
 * memory. Writes nothing, and a session may be written meanwhile.
 */

import { codeOf, isThroughlineError, messageOf } from "../../base/support/index.ts";
import { damageOf, scanLines } from "../log/index.ts";
import type { Engine } from "./engine.ts";
import type { Row } from "./lane.ts";
import { quoted } from "./migrate.ts";

export interface VerifyOptions {
  /** Default: all tenants. */
  readonly tenant?: string | undefined;
  /** Checks only this many sessions, picked at random. */
  readonly sample?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, all: number) => void) | undefined;
}

export interface DamagedSession {
  readonly tenant: string;
  readonly session: string;
  /** The event where it is; undefined if it is not about one. */
  readonly seq?: number | undefined;
  readonly problem: string;
}

export interface Verified {
  readonly sessions: number;
  readonly events: number;
  readonly bytes: number;
  readonly damaged: number;
}

const SESSIONS = 200;
const PAGE_ROWS = 1000;
const PAGE_BYTES = 4 * 1024 * 1024;
const BLOBS = 20;

/** Yields what is damaged as it is found, and returns what was checked. */
export async function* verifyStore(
  engine: Engine,
  options: VerifyOptions = {},
): AsyncGenerator<DamagedSession, Verified> {
  await engine.identity.check();
  const all = Math.min(await countOf(engine, options.tenant), options.sample ?? Number.POSITIVE_INFINITY);
  const totals = { sessions: 0, events: 0, bytes: 0, damaged: 0 };
  for await (const { tenant, id } of sessionsOf(engine, options)) {
    if (options.signal?.aborted === true) break;
    const found = await checkSession(engine, tenant, id);
    totals.sessions += 1;
    totals.events += found.events;
    totals.bytes += found.bytes;
    if (found.problems.length > 0) totals.damaged += 1;
    for (const { seq, problem } of found.problems) yield { tenant, session: id, seq, problem };
    options.onProgress?.(totals.sessions, Math.max(all, totals.sessions));
  }
  return totals;
}

async function countOf({ connections, schema }: Engine, tenant: string | undefined): Promise<number> {
  const text = `select count(*)::int as n from ${quoted(schema)}.sessions where made and ($1::text is null or tenant = $1)`;
  return Number((await connections.read({ text }, [tenant ?? null]))[0]?.["n"]);
}

interface Named {
  readonly tenant: string;
  readonly id: string;
}

function named(row: Row): Named {
  return { tenant: String(row["tenant"]), id: String(row["id"]) };
}

async function* sessionsOf(
  { connections, schema }: Engine,
  { tenant, sample }: VerifyOptions,
): AsyncGenerator<Named> {
  const from = `from ${quoted(schema)}.sessions where made and ($1::text is null or tenant = $1)`;
  if (sample !== undefined) {
    const text = `select tenant, id ${from} order by random() limit $2`;
    yield* (await connections.read({ text }, [tenant ?? null, sample])).map(named);
    return;
  }
  const text = `select tenant, id ${from} and (tenant, id) > ($2, $3) order by tenant, id limit ${SESSIONS}`;
  for (let last: Named = { tenant: "", id: "" }; ;) {
    const page = (await connections.read({ text }, [tenant ?? null, last.tenant, last.id])).map(named);
    yield* page;
    const end = page.at(-1);
    if (end === undefined || page.length < SESSIONS) return;
    last = end;
  }
}

interface Problem {
  readonly seq?: number | undefined;
  readonly problem: string;
}

interface Checked {
  readonly events: number;
  readonly bytes: number;
  readonly problems: readonly Problem[];
}

async function checkSession(engine: Engine, tenant: string, id: string): Promise<Checked> {
  const problems: Problem[] = [];
  const noted = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      problems.push(unreadable(error));
      return otherwise;
    }
  };
  const log = await noted(() => checkLines(engine, tenant, id), { events: 0, bytes: 0 });
  if (log === undefined) return { events: 0, bytes: 0, problems: [] }; // removed meanwhile
  if (log.problem !== undefined) problems.push(log.problem);
  for (const name of await noted(() => badBlobs(engine, tenant, id), []))
    problems.push({ problem: `blob ${name} does not match its name` });
  return { events: log.events, bytes: log.bytes, problems };
}

interface CheckedLog {
  readonly events: number;
  readonly bytes: number;
  readonly problem?: Problem;
}

/** Undefined if the session is gone. */
async function checkLines(engine: Engine, tenant: string, id: string): Promise<CheckedLog | undefined> {
  const { connections, schema } = engine;
  const statement = pageStatement(schema);
  let [seq, epoch, bytes] = [0, 0, 0];
  for (;;) {
    const rows = await connections.read({ text: statement }, [tenant, id, seq]);
    const [head] = rows;
    if (head === undefined) return undefined;
    const [nextSeq, expectedBytes] = [Number(head["next_seq"]), Number(head["bytes"])];
    const found = rows.filter(({ seq: number }) => number !== null);
    const at = { events: seq, bytes };
    if (found.length === 0) {
      if (seq < nextSeq)
        return { ...at, problem: { seq, problem: `events ${seq} to ${nextSeq - 1} are missing` } };
      return bytes === expectedBytes
        ? at
        : {
            ...at,
            problem: { problem: `its row says ${expectedBytes} bytes, but its events have ${bytes}` },
          };
    }
    for (const [index, row] of found.entries()) {
      const number = Number(row["seq"]);
      if (number !== seq + index)
        return { ...at, problem: { seq: seq + index, problem: `event ${seq + index} is missing` } };
      if (number >= nextSeq)
        return { ...at, problem: { seq: number, problem: `event ${number} is behind the end of the log` } };
    }
    const lines = Buffer.from(found.map(({ line }) => `${String(line)}\n`).join(""), "utf8");
    try {
      const { events, goodBytes } = scanLines(lines, {
        offset: bytes,
        firstSeq: seq,
        lowestEpoch: epoch,
        session: id,
      });
      if (events.length !== found.length || goodBytes !== lines.length)
        return { ...at, problem: { seq: seq + events.length, problem: "it is not one whole line" } };
      epoch = events.at(-1)?.epoch ?? epoch;
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw error;
      return { ...at, problem: { seq: damage.line - 1, problem: damage.problem } };
    }
    seq += found.length;
    bytes += lines.length;
  }
}

/**
 * The next events, as many as fit a page but at least one, with the row of the session in the same snapshot. Their sizes
 * are known without reading them.
 */
function pageStatement(schema: string): string {
  const s = quoted(schema);
  return `with e as (select seq, octet_length(line) as size,
                            sum(octet_length(line)) over (order by seq) as total
                       from (select seq, line from ${s}.events where tenant = $1 and session = $2 and seq >= $3
                              order by seq limit ${PAGE_ROWS}) as l)
          select x.next_seq::text as next_seq, x.bytes::text as bytes, p.seq::text as seq, p.line
            from ${s}.sessions x left join lateral
                 (select v.seq, v.line from ${s}.events v join e on e.seq = v.seq
                   where v.tenant = $1 and v.session = $2 and e.total - e.size < ${PAGE_BYTES}) as p on true
           where x.tenant = $1 and x.id = $2 and x.made order by p.seq`;
}

/** Judged by the server, so that their bytes need not travel. */
async function badBlobs(
  { connections, schema }: Engine,
  tenant: string,
  id: string,
): Promise<readonly string[]> {
  const text = `select name, name = encode(sha256(bytes), 'hex') as fits from ${quoted(schema)}.blobs
                 where tenant = $1 and session = $2 and name > $3 order by name limit ${BLOBS}`;
  const bad: string[] = [];
  for (let last = ""; ;) {
    const rows = await connections.read({ text }, [tenant, id, last]);
    for (const row of rows) if (row["fits"] !== true) bad.push(String(row["name"]));
    if (rows.length < BLOBS) return bad;
    last = String(rows.at(-1)?.["name"]);
  }
}

/** The server itself found damage: an internal error, or corrupted data (class XX). */
function unreadable(error: unknown): Problem {
  const state = isThroughlineError(error) ? error.details["sqlState"] : codeOf(error);
  if (typeof state !== "string" || !state.startsWith("XX")) throw error;
  return { problem: `the database cannot read it: ${messageOf(error)}` };
}
