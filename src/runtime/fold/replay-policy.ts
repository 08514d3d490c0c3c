/**
 * Caps replayed reasoning (requirements F6, R20): whole groups, newest kept. Off by default, because every dropped
 * thought also breaks the prompt cache from there on (failures.md K01).
 */

import type { Settings } from "../../base/events/index.ts";
import { type Entry, type Group, opensTurn } from "./entries.ts";
import { isHome } from "./home.ts";

/** The groups whose reasoning may be sent, or undefined if all may. */
export function allowedGroups(entries: readonly Entry[], settings: Settings): ReadonlySet<Group> | undefined {
  const policy = settings.replay;
  if (policy === "all") return undefined;
  const allowed = new Set<Group>();
  if (policy === "none") return allowed;
  let budget = policy === "since_last_user" ? Number.POSITIVE_INFINITY : policy.maxItems;
  for (const entry of entries.toReversed()) {
    if (policy === "since_last_user" && opensTurn(entry)) break;
    if (entry.kind !== "group" || !isHome(entry.origin, settings)) continue;
    if (entry.end?.status !== "completed") continue;
    budget -= entry.items.filter((item) => item.type === "reasoning").length;
    if (budget < 0) break;
    allowed.add(entry);
  }
  return allowed;
}
