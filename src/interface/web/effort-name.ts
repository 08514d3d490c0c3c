/**
 * How hard the model is asked to think, in the words a person chooses from. `none` is what some providers call `off`.
 *
 * @module
 */

export const EFFORTS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export function effortName(effort: string): string {
  return effort === "none" ? "off" : effort;
}

export function effortText(effort: string): string {
  return effort === "off" ? "off (no thinking)" : effort;
}
