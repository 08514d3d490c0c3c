/**
 * What can be chosen for a model and its tools. Each list stands here alone: checks, flags, schemas and pages take it
 * from here.
 */

/** How hard a model can be asked to think, from least to most; `none` is what some providers call `off`. */
export const EFFORTS = ["off", "none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

export function isEffort(text: string): text is Effort {
  return EFFORTS.some((one) => one === text);
}

/** How thoughts are shown; `auto` is what suits the surface. */
export const SHOW_REASONING = ["auto", "full", "title", "none"] as const;
export type ShowReasoning = (typeof SHOW_REASONING)[number];

/** What tools may do unasked, from the narrowest to the widest. */
export const PERMISSION_MODES = ["deny", "read-only", "ask", "auto"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export function isPermissionMode(value: unknown): value is PermissionMode {
  return PERMISSION_MODES.some((one) => one === value);
}
