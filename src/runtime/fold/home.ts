/**
 * Whose answers are sent back unchanged: those of an equal origin (law 1), and of models whose thoughts this one reads.
 */

import { type Origin, sameOrigin, type Settings } from "../../base/events/index.ts";

export function isHome(origin: Origin, { target, capabilities }: Settings): boolean {
  if (sameOrigin(origin, target)) return true;
  const { readsThoughtsOf } = capabilities;
  if (readsThoughtsOf === undefined || !new RegExp(readsThoughtsOf).test(origin.model)) return false;
  return sameOrigin({ ...origin, model: target.model }, target);
}
