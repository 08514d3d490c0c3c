/**
 * The permission modes, as a table of what a call may do. Pure: the turn loop decides whom to ask and records the
 * answer.
 */

import type { PermissionMode } from "../../base/events/index.ts";
import { assertNever } from "../../base/support/index.ts";
import type { ToolAccess } from "./tool.ts";

export type Permission = "allow" | "deny" | "ask";

export function permissionFor(mode: PermissionMode, access: ToolAccess): Permission {
  switch (mode) {
    case "auto":
      return "allow";
    case "deny":
      return "deny";
    case "read-only":
      return access === "read" ? "allow" : "deny";
    case "ask":
      return access === "read" ? "allow" : "ask";
    default:
      return assertNever(mode, "permission mode");
  }
}
