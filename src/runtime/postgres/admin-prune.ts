/**
 * Removes sessions that nobody has changed for a long time. Never one that a living node holds, that has an open turn or
 * a request that waits: each is looked at again inside the transaction that removes it. Stopping between two sessions
 * leaves every session whole or gone.
 */

import { claim, deleteRows, inTransaction } from "./admin-session.ts";
import type { Engine } from "./engine.ts";
import { quoted } from "./migrate.ts";
import { ALIVE } from "./statements.ts";

export interface PruneOptions {
  readonly olderThanMs: number;
  /** Default: all tenants. */
  readonly tenant?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** After each batch. */
  readonly onProgress?: ((done: Pruned) => void) | undefined;
}

export interface Pruned {
  readonly sessions: number;
  readonly bytes: number;
}

const BATCH = 100;

interface Candidate {
  readonly tenant: string;
  readonly id: string;
  readonly fence: string;
  readonly asked: string;
  readonly bytes: number;
  readonly modified: string;
}

/** With `dryRun`, counts what would be removed. */
export async function pruneStore(engine: Engine, options: PruneOptions): Promise<Pruned> {
  await engine.identity.check();
  const { connections } = engine;
  const [now] = await connections.read(
    { text: "select (clock_timestamp() - $1::float8 * interval '1 ms')::text as cutoff" },
    [options.olderThanMs],
  );
  const cutoff = String(now?.["cutoff"]);
  const isStopped = (): boolean => options.signal?.aborted === true;
  let [sessions, bytes] = [0, 0];
  for (let last: Candidate | undefined; !isStopped();) {
    const batch = await candidates(engine, cutoff, options.tenant, last);
    for (const one of batch) {
      if (isStopped()) break;
      last = one;
      if (options.dryRun !== true && !(await removeOld(engine, one))) continue;
      sessions += 1;
      bytes += one.bytes;
    }
    options.onProgress?.({ sessions, bytes });
    if (batch.length < BATCH) break;
  }
  return { sessions, bytes };
}

/** What no session that is removed may have: a writer, an open turn, or something to do. */
const IDLE = (s: string) =>
  `x.made and x.open_turn is null and not exists (select 1 from ${s}.nodes n, ${s}.store st where n.id = x.holder and ${ALIVE})
   and not exists (select 1 from ${s}.inbox i where i.tenant = x.tenant and i.session = x.id)`;

/** The next ones in the order of their age. */
async function candidates(
  { connections, schema }: Engine,
  cutoff: string,
  tenant: string | undefined,
  last: Candidate | undefined,
): Promise<readonly Candidate[]> {
  const s = quoted(schema);
  const text = `select x.tenant, x.id, x.fence::text as fence, x.asked::text as asked, x.bytes::text as bytes, x.modified_at::text as modified
                  from ${s}.sessions x
                 where x.modified_at < $1::timestamptz and ($2::text is null or x.tenant = $2)
                   and ($3::timestamptz is null or (x.modified_at, x.tenant, x.id) > ($3::timestamptz, $4::text, $5::text))
                   and ${IDLE(s)}
                 order by x.modified_at, x.tenant, x.id limit ${BATCH}`;
  const rows = await connections.read({ text }, [
    cutoff,
    tenant ?? null,
    last?.modified ?? null,
    last?.tenant ?? "",
    last?.id ?? "",
  ]);
  return rows.map((row) => ({
    tenant: String(row["tenant"]),
    id: String(row["id"]),
    fence: String(row["fence"]),
    asked: String(row["asked"]),
    bytes: Number(row["bytes"]),
    modified: String(row["modified"]),
  }));
}

/**
 * False if something has happened to it since it was found. Whoever acquires it raises `fence`, and whoever asks
 * something of it raises `asked`, both in this very row: a statement that had to wait for such a change sees it.
 */
async function removeOld(engine: Engine, { tenant, id, fence, asked }: Candidate): Promise<boolean> {
  const s = quoted(engine.schema);
  const isGone = await inTransaction(engine, async (run) => {
    if (!(await claim(run, s, { tenant, id, fence, asked }))) return false;
    await deleteRows(run, s, tenant, id);
    await run(`delete from ${s}.sessions where tenant = $1 and id = $2`, [tenant, id]);
    return true;
  });
  if (isGone) engine.hint([id]);
  return isGone;
}
