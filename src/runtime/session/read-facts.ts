/** Reads the facts of a stored session: its log is read once and released. */

import { type CostOf, factsOf, type SessionFacts } from "../facts/index.ts";
import type { Store } from "../log/index.ts";

export async function readFacts(store: Store, id: string, costOf?: CostOf): Promise<SessionFacts> {
  const log = await store.open(id, { mode: "read" });
  await log.close();
  return factsOf(log.events, costOf);
}
