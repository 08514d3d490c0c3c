import { expect, test } from "vitest";

import { permissionFor, type PermissionMode, type ToolAccess } from "./index.ts";

test.each<[PermissionMode, ...("allow" | "deny" | "ask")[]]>([
  ["auto", "allow", "allow", "allow"],
  ["read-only", "allow", "deny", "deny"],
  ["deny", "deny", "deny", "deny"],
  ["ask", "allow", "ask", "ask"],
])("mode %s answers read: %s, write: %s, execute: %s", (mode, ...expected) => {
  const accesses: readonly ToolAccess[] = ["read", "write", "execute"];
  expect(accesses.map((access) => permissionFor(mode, access))).toEqual(expected);
});

test("an unknown mode throws and is not allowed", () => {
  expect(() => permissionFor("anything" as PermissionMode, "read")).toThrow(/permission mode/);
});
