/**
 * How hard the model is asked to think, in the words a person chooses from. `none` is what some providers call `off`.
 */

import { EFFORTS } from "../../base/events/index.ts";

export const EFFORT_NAMES = EFFORTS.filter((effort) => effort !== "none");

export function effortName(effort: string): string {
  return effort === "none" ? "off" : effort;
}

export function effortText(effort: string): string {
  return effort === "off" ? "off (no thinking)" : effort;
}
