/** The choices for a model and its tools. Checks, flags, schemas and pages all take these lists from here. */

import { codedError, didYouMean } from "../support/index.ts";

/** How hard a model should think, from least to most. `none` is what some providers call `off`. */
export const EFFORTS = ["off", "none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
/** How hard a model should think, from least to most. `none` is what some providers call `off`. */
export type Effort = (typeof EFFORTS)[number];

export function isEffort(text: string): text is Effort {
  return EFFORTS.some((one) => one === text);
}

/** Narrows an effort that comes as text: a flag, a request, a setting. */
export function asEffort(text: string): Effort {
  if (isEffort(text)) return text;
  const hint = typeof text === "string" ? didYouMean(text, EFFORTS) : "";
  throw codedError("effort_unknown", `unknown effort "${text}"; use one of ${EFFORTS.join(", ")}${hint}`);
}

/** How thoughts are shown. `auto` depends on the interface. */
export const SHOW_REASONING = ["auto", "full", "title", "none"] as const;
export type ShowReasoning = (typeof SHOW_REASONING)[number];

/** What tools may do without asking, from least to most. */
export const PERMISSION_MODES = ["deny", "read-only", "ask", "auto"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export function isPermissionMode(value: unknown): value is PermissionMode {
  return PERMISSION_MODES.some((one) => one === value);
}
