/** log → plan: what the next request contains, and why. Pure. */

export {
  activePath,
  eventsBefore,
  leavesAside,
  showsBegunTurn,
  startsAside,
  walkPath,
} from "./active-path.ts";
export { keepNewest, sizeOf, startOf } from "./cut-points.ts";
export { contentText, digestOf } from "./digest.ts";
export { type Entry, Group, type GroupSketch, opensTurn } from "./entries.ts";
export { explain, LeftOutRanges } from "./explain.ts";
export { Fold, planOf } from "./fold.ts";
export { isHome } from "./home.ts";
export { CUT_OFF, NEVER_STARTED, resultOfOpenCall, OUTCOME_UNKNOWN, RUNNING_IN_PARENT } from "./open-ends.ts";
export { withoutFollowers } from "./omissions.ts";
export {
  type Plan,
  type PlanEntry,
  type PlannedGroup,
  type PlannedItem,
  type PlannedResult,
  RESULT_IMAGES,
  sendsReasoning,
  withItems,
  withoutReasoning,
} from "./plan.ts";
export { serverBlockOf } from "./server-pairs.ts";
export { resultOf } from "./whole-groups.ts";
