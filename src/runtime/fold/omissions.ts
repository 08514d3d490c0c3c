/**
 * What it costs to leave an item out of a response that goes home item by item.
 *
 * Two checks bind the items of a response (failures.md §0, law 1). A thought needs the item that followed it, next after
 * it: that is by position. An item that is sent with its id needs the thoughts before it, sent with theirs: that is by id,
 * and nobody names anything but thoughts. So an item that is left out costs nothing but the thoughts that stood directly
 * before it, and those only:
 * - nothing stood before it but other items: nothing is lost;
 * - thoughts stood before it, and what is sent behind it has no id, or nothing is: they go, alone. No id names them;
 * - thoughts stood before it, and items with ids come later: those name the thoughts, which cannot be sent. Then the whole
 *   response goes without ids and without reasoning (law 2).
 */

import { type Profile, type Reason, responseFormOf } from "../../base/events/index.ts";
import type { PlannedItem } from "./plan.ts";

export interface Loss {
  readonly reason: Reason;
  readonly why: string;
}

export interface WithoutFollowers {
  readonly items: readonly PlannedItem[];
  /** All reasoning and ids of the response are lost, and why. */
  readonly lost?: Loss;
}

/** The items without the thoughts that would stand there without what followed them. */
export function withoutFollowers(items: readonly PlannedItem[], profile: Profile): WithoutFollowers {
  if (!omitsAlone(profile)) return { items };
  const losses = lossesOf(items);
  if (losses.size === 0) return { items };
  const [first] = losses.keys();
  const behind = items.slice(items.indexOf(first as PlannedItem));
  const named =
    profile.itemIds === "keep" && behind.some((item) => item.action !== "omit" && !losses.has(item));
  if (named) {
    const { reason, why } = losses.get(first as PlannedItem) as Loss;
    return { items, lost: { reason, why: `${why}; that costs all reasoning of the response` } };
  }
  return {
    items: items.map((item): PlannedItem => {
      const loss = losses.get(item);
      return loss === undefined ? item : { ...item, action: "omit", ...loss };
    }),
  };
}

export function omitsAlone(profile: Profile): boolean {
  return profile.omitsAlone === true && responseFormOf(profile) === "items";
}

/** The thoughts whose follower is not sent, in their order. */
function lossesOf(items: readonly PlannedItem[]): ReadonlyMap<PlannedItem, Loss> {
  const losses: [PlannedItem, Loss][] = [];
  let follower: PlannedItem | undefined;
  for (const item of items.toReversed()) {
    if (item.event.type !== "reasoning") follower = item;
    else if (item.action !== "omit" && follower?.action !== "replay")
      losses.push([item, follower === undefined ? NO_FOLLOWER : lossThrough(follower)]);
  }
  return new Map(losses.toReversed());
}

const NO_FOLLOWER: Loss = { reason: "no_follower", why: "nothing of the same response follows it" };

function lossThrough({ reason, why, event }: PlannedItem): Loss {
  return { reason, why: `the ${event.itemType} that followed it is not sent: ${why}` };
}
