/** The names of reasoning efforts that the page offers. Some providers call `off` `none`. */

import { EFFORTS } from "../../base/events/index.ts";

export const EFFORT_NAMES = EFFORTS.filter((effort) => effort !== "none");

export function effortName(effort: string): string {
  return effort === "none" ? "off" : effort;
}

export function effortText(effort: string): string {
  return effort === "off" ? "off (no reasoning)" : effort;
}
