/**
 * The permission modes, as a table of what a call may do. Pure: who is asked, and how the answer is recorded,
 * is the loop's business.
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
