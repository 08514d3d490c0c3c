/** Creates and removes whole sessions, each in one transaction: a session is there with all of it, or not at all. */

import { codedError } from "../../base/support/index.ts";
import { factsOf, summaryOf } from "../facts/index.ts";
import {
  assertWritable,
  createStamper,
  linesFrom,
  scanLines,
  type SessionBundle,
  sessionExists,
  type WholeSession,
} from "../log/index.ts";
import type { Engine } from "./engine.ts";
import type { Row } from "./lane.ts";
import { quoted } from "./migrate.ts";
import { storeError } from "./problems.ts";
import { summaryText } from "./summaries.ts";

/** Runs a statement inside a transaction. */
export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

const CHUNK_BYTES = 4 * 1024 * 1024;

/** In pieces: a log may be larger than any string. */
export async function insertRows(
  run: Run,
  s: string,
  {
    tenant,
    id,
    lines,
    blobs,
  }: { readonly tenant: string; readonly id: string } & Pick<SessionBundle, "lines" | "blobs">,
): Promise<void> {
  let seq = 0;
  for (let at = 0; at < lines.length;) {
    // Up to the end of the line in which the piece would end.
    const lf = lines.indexOf(0x0a, Math.min(at + CHUNK_BYTES, lines.length) - 1);
    const end = lf === -1 ? lines.length : lf + 1;
    const chunk = lines.toString("utf8", at, end).split("\n").slice(0, -1);
    await run(
      `insert into ${s}.events (tenant, session, seq, line)
       select $1, $2, $3::bigint + o - 1, line from unnest($4::text[]) with ordinality as l(line, o)`,
      [tenant, id, seq, chunk],
    );
    seq += chunk.length;
    at = end;
  }
  for (const [name, content] of blobs)
    await run(`insert into ${s}.blobs (tenant, session, name, bytes) values ($1, $2, $3, $4)`, [
      tenant,
      id,
      name,
      Buffer.from(content),
    ]);
}

export async function createWhole(
  engine: Engine,
  tenant: string,
  id: string,
  { events, lines: given, blobs, modifiedAt }: WholeSession,
): Promise<void> {
  const { clock, connections, schema } = engine;
  const bytes = given ?? linesFrom(createStamper(clock).stamp(events, 0, 1));
  assertWritable(bytes, id);
  const read = scanLines(bytes, { offset: 0, firstSeq: 0, lowestEpoch: 0, session: id }).events;
  const facts = factsOf(read);
  const s = quoted(schema);
  const summary = summaryText(id, summaryOf(facts));
  try {
    await connections.large.transaction(async (run) => {
      // An id that was reserved by a node that is gone, and never used.
      await run(
        `delete from ${s}.sessions x where x.tenant = $1 and x.id = $2 and not x.made and not exists
          (select 1 from ${s}.nodes n where n.id = x.holder and n.lease_until > clock_timestamp())`,
        [tenant, id],
      );
      const [made] = await run(
        `insert into ${s}.sessions (tenant, id, made, next_seq, bytes, open_turn, summary, incarnation, modified_at)
         values ($1, $2, true, $3, $4, $5, $6, $7, coalesce(to_timestamp($8::float8 / 1000), clock_timestamp()))
         on conflict do nothing returning 1`,
        [
          tenant,
          id,
          read.length,
          bytes.length,
          facts.openTurn ?? null,
          summary,
          engine.identity.incarnation,
          modifiedAt ?? null,
        ],
      );
      if (made === undefined) throw sessionExists(id);
      await insertRows(run, s, { tenant, id, lines: bytes, blobs });
    });
  } catch (error) {
    throw storeError(error);
  }
}

/** Events and blobs first: a session that is half removed still has a name and can be removed again. */
export async function removeSession(
  engine: Engine,
  tenant: string,
  id: string,
  fence: string,
): Promise<void> {
  const { connections, schema } = engine;
  const s = quoted(schema);
  try {
    await connections.large.transaction(async (run) => {
      // Raises the fence, so that nobody acquires it meanwhile on what they looked at before.
      const [row] = await run(
        `update ${s}.sessions set fence = fence + 1 where tenant = $1 and id = $2 and fence = $3 returning 1`,
        [tenant, id, fence],
      );
      if (row === undefined)
        throw codedError("session_locked", `session "${id}" was taken by another node. Try again`);
      for (const table of ["live", "inbox", "blobs", "events"])
        await run(`delete from ${s}.${table} where tenant = $1 and session = $2`, [tenant, id]);
      await run(`delete from ${s}.sessions where tenant = $1 and id = $2`, [tenant, id]);
    });
  } catch (error) {
    throw storeError(error);
  }
}
