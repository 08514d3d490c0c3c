/**
 * Lists the sessions of a tenant. One statement fixes the order, as a session that is written meanwhile would change its
 * place. Summaries follow in chunks, read anew if the caller took its time: what is listed was true at that moment.
 */

import { codeOf, messageOf } from "../../base/support/index.ts";
import { factsOf, type StoredSummary, summaryOf } from "../facts/index.ts";
import { isFound, type ListOptions, type Log, type StoredSession } from "../log/index.ts";
import type { Connections } from "./connections.ts";
import type { Row } from "./lane.ts";
import { quoted } from "./migrate.ts";
import { readSummaryText, summaryText } from "./summaries.ts";

export interface ListedStore {
  readonly connections: Connections;
  readonly schema: string;
  readonly tenant: string;
  readonly read: (id: string) => Promise<Log>;
}

const CHUNK = 200;
/** Two machines rarely agree to the second. A session dated further ahead comes after those of the present. */
const FUTURE = "modified_at > clock_timestamp() + interval '60 s'";

interface Found {
  readonly id: string;
  readonly modifiedAt: number;
}

export async function* listRows(store: ListedStore, options: ListOptions): AsyncGenerator<StoredSession> {
  const { limit = Number.POSITIVE_INFINITY, search } = options;
  const bare = options.summaries === false && search === undefined;
  const found = await inOrder(store, options.behind, search === undefined ? limit : undefined);
  let chunk = new Map<string, Row>();
  let listed = 0;
  for (const [index, { id, modifiedAt }] of found.entries()) {
    if (listed >= limit) return;
    if (!chunk.has(id)) chunk = await rowsOf(store, found.slice(index, index + CHUNK));
    const row = chunk.get(id);
    if (row === undefined) continue; // removed meanwhile
    const described = bare ? {} : await describe(store, row, id);
    if (described === undefined) continue;
    const stored = { id, modifiedAt, bytes: Number(row["bytes"]), ...described };
    if (!isFound(stored, search)) continue;
    listed += 1;
    let tookItsTime = false;
    const turn = setImmediate(() => {
      tookItsTime = true;
    });
    yield stored;
    clearImmediate(turn);
    if (tookItsTime) chunk = new Map();
  }
}

/** In microseconds, as the server counts: a page begins exactly behind the last session of the one before. */
async function inOrder(
  { connections, schema, tenant }: ListedStore,
  behind: ListOptions["behind"],
  limit: number | undefined,
): Promise<readonly Found[]> {
  const text = `with x as (select id, (extract(epoch from modified_at) * 1000000)::bigint as micros, ${FUTURE} as future
                             from ${quoted(schema)}.sessions where tenant = $1 and made),
                     b as (select timestamptz 'epoch' + $2::bigint * interval '1 microsecond' as modified_at)
      select id, micros::text as micros from x
       where $2::bigint is null or (future, -micros, id) > ((select ${FUTURE} from b), -$2::bigint, $3::text)
       order by x.future, x.micros desc, x.id limit $4`;
  const micros = behind === undefined ? null : Math.round(behind.modifiedAt * 1000);
  const most = limit === undefined || limit === Number.POSITIVE_INFINITY ? null : limit;
  const rows = await connections.read({ name: `tl_${schema}_list`, text }, [
    tenant,
    micros,
    behind?.id ?? "",
    most,
  ]);
  return rows.map((row) => ({ id: String(row["id"]), modifiedAt: Number(row["micros"]) / 1000 }));
}

async function rowsOf(
  { connections, schema, tenant }: ListedStore,
  found: readonly Found[],
): Promise<Map<string, Row>> {
  const text = `select id, next_seq::text as next_seq, bytes::text as bytes, summary from ${quoted(schema)}.sessions
                 where tenant = $1 and id = any($2::text[]) and made`;
  const rows = await connections.read({ name: `tl_${schema}_rows`, text }, [
    tenant,
    found.map(({ id }) => id),
  ]);
  return new Map(rows.map((row) => [String(row["id"]), row]));
}

type Described = { readonly summary: StoredSummary } | Pick<StoredSession, "problem" | "problemCode">;

/** Undefined if the session was removed meanwhile. */
async function describe(store: ListedStore, row: Row, id: string): Promise<Described | undefined> {
  const known = readSummaryText(row["summary"], id, Number(row["next_seq"]));
  if (known !== undefined) return { summary: known };
  const { connections, schema, tenant } = store;
  try {
    const log = await store.read(id);
    await log.close();
    const summary = summaryOf(factsOf(log.events));
    const keep = `update ${quoted(schema)}.sessions set summary = $3
                   where tenant = $1 and id = $2 and next_seq = $4 and holder is null`;
    const values = [tenant, id, summaryText(id, summary), log.events.length];
    await connections.read({ text: keep }, values).catch(() => []); // it may be read-only here
    return { summary };
  } catch (error) {
    if (codeOf(error) === "session_not_found") return undefined;
    return { problem: messageOf(error), problemCode: codeOf(error) };
  }
}
