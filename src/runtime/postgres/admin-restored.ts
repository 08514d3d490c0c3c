/** Tells a store that its database was restored, where the server does not show it (docs/store-postgres.md). */

import type { Engine } from "./engine.ts";
import { quoted } from "./migrate.ts";
import { ALIVE } from "./statements.ts";

export interface Restored {
  /** The store noticed it by itself, a moment ago. */
  readonly noticed: boolean;
  /** Living nodes whose leases ended with it. */
  readonly nodes: number;
  /** Sessions with an open turn. None of its calls is run again. */
  readonly openTurns: number;
}

export async function markRestored(engine: Engine): Promise<Restored> {
  const { connections, identity, schema } = engine;
  const s = quoted(schema);
  const before = String((await identity.row())["incarnation"]);
  const [found = {}] = await connections.read(
    {
      text: `select (select count(*) from ${s}.nodes n, ${s}.store st where ${ALIVE})::int as nodes,
                    (select count(open_turn) from ${s}.sessions)::int as open_turns`,
    },
    [],
  );
  await identity.check();
  const noticed = identity.incarnation !== before;
  if (!noticed) await identity.restored(before, await identity.marks());
  return { noticed, nodes: Number(found["nodes"]), openTurns: Number(found["open_turns"]) };
}
