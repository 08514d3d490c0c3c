/** Remarks about a requested effort that has no effect. */

import type { Settings } from "../../base/events/index.ts";
import type { Remark } from "./provider.ts";

/** The remark for a model that does not think, if an effort was requested. */
export function effortIgnored(settings: Settings): readonly Remark[] {
  const { effort } = settings;
  return effort === undefined || effort === "off" || effort === "none" ? [] : [ignoredEffort(settings)];
}

export function ignoredEffort({ effort, target }: Settings): Remark {
  return {
    code: "effort_ignored",
    message: `the effort "${effort}" has no effect: ${target.provider}/${target.model} has no such setting`,
  };
}
