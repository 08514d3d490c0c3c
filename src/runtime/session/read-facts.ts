/** What is known of a stored session without opening it for anybody: its log is read once and let go. */

import type { SessionSummary } from "../../base/api/index.ts";
import { messageOf } from "../../base/support/index.ts";
import { type CostOf, factsOf, type SessionFacts } from "../facts/index.ts";
import type { Store, StoredSession } from "../log/index.ts";

export async function readFacts(store: Store, id: string, costOf?: CostOf): Promise<SessionFacts> {
  const log = await store.open(id, { mode: "read" });
  await log.close();
  return factsOf(log.events, costOf);
}

/** As lists show it; of a log that cannot be read, why. */
export async function describeSession(store: Store, stored: StoredSession): Promise<SessionSummary> {
  try {
    const { title, cwd } = await readFacts(store, stored.id);
    return { ...stored, title, cwd };
  } catch (error) {
    return { ...stored, problem: messageOf(error) };
  }
}
