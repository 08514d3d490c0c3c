/** The order of session lists and the search in them, for every store. */

import type { ListOptions, Store, StoredSession } from "./log.ts";

type Listed = Pick<StoredSession, "id" | "modifiedAt">;

/** Two machines that share a folder rarely agree to the second. */
const SKEW_MS = 60_000;

/**
 * Newest first, then by id, so that a list read in pages misses nothing. A session dated in the future was written
 * before the clock was set back. It comes after those of the present; otherwise `-c` would continue it until its time
 * has come.
 */
export function inListOrder<S extends Listed>(
  sessions: readonly S[],
  { behind }: Pick<ListOptions, "behind">,
  now: number,
): readonly S[] {
  const isFuture = ({ modifiedAt }: Listed): number => (modifiedAt > now + SKEW_MS ? 1 : 0);
  const order = (a: Listed, b: Listed): number =>
    isFuture(a) - isFuture(b) || b.modifiedAt - a.modifiedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  return sessions.filter((one) => behind === undefined || order(behind, one) < 0).toSorted(order);
}

/** Case-insensitive search in title, id and folder. */
export function isFound(
  { id, summary }: Pick<StoredSession, "id" | "summary">,
  search: string | undefined,
): boolean {
  if (search === undefined) return true;
  const wanted = search.toLowerCase();
  return [id, summary?.title, summary?.cwd].some((text) => text?.toLowerCase().includes(wanted) === true);
}

/** How many sessions a store has. */
export async function countSessions(store: Pick<Store, "list" | "count">): Promise<number> {
  if (store.count !== undefined) return store.count();
  let count = 0;
  for await (const _ of store.list({ summaries: false })) count += 1;
  return count;
}
