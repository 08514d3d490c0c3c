/**
 * What it costs to omit an item of a response that is sent home item by item.
 *
 * Two checks bind the items of a response (failures.md §0, law 1). A thought needs the item that followed it, directly
 * after it: that is by position. An item sent with its id needs the thoughts before it, sent with theirs: that is by
 * id, and ids refer only to thoughts. So omitting an item costs only the thoughts directly before it:
 * - If only other items precede it, nothing is lost.
 * - If thoughts precede it, and what is sent after it has no id or nothing is sent after it, only those thoughts are
 *   omitted. No id refers to them.
 * - If thoughts precede it and items with ids follow, those refer to the thoughts, which cannot be sent. The whole
 *   response is then sent without ids and without reasoning (law 2).
 */

import { type Profile, type Reason, responseFormOf } from "../../base/events/index.ts";
import type { PlannedItem } from "./plan.ts";

export interface Loss {
  readonly reason: Reason;
  readonly why: string;
}

export interface WithoutFollowers {
  readonly items: readonly PlannedItem[];
  /** Set if all reasoning and ids of the response are lost, with the reason. */
  readonly lost?: Loss;
}

/** Omits the thoughts whose follower is not sent. */
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
    return { items, lost: { reason, why: `${why}; so all reasoning of the response is omitted` } };
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

/** The thoughts whose follower is not sent, in order. */
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
