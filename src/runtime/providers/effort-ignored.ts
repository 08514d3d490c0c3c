/** An effort that has no effect: a person asked for it, so a person is told. */

import type { Settings } from "../../base/events/index.ts";
import type { Remark } from "./provider.ts";

/** For a model that does not think, where an effort was asked for. */
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
