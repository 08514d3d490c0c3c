/**
 * The rules of a run. A wrong `--allow` stops the run before it begins. A rule of the user's settings is for every folder,
 * so one that does not fit the tools of this run is left out.
 */

import { codedError, codeOf, messageOf } from "../../base/support/index.ts";
import { parseRule, type Tool } from "../../runtime/tools/index.ts";
import { inertLine } from "./inert-text.ts";
import type { RunSettings } from "./run-settings.ts";
import { say, type Terminal } from "./terminal.ts";

export function allowRules(
  { allow, permissions }: Pick<RunSettings, "allow" | "permissions">,
  tools: readonly Tool[],
  terminal: Pick<Terminal, "stderr">,
): readonly string[] {
  for (const rule of allow.flags) assertFlag(rule, tools);
  if (permissions === "read-only" || permissions === "deny") {
    if (allow.flags.length > 0) say(terminal, `--allow has no effect: the permissions are ${permissions}`);
    return [];
  }
  const fitting = allow.settings.filter((rule) => {
    const name = rule.split(":", 1)[0] ?? "";
    if (isMcpName(rule)) return true;
    if (!tools.some((one) => one.name === name)) return false;
    try {
      parseRule(rule, tools);
      return true;
    } catch (error) {
      say(terminal, `ignoring the setting allow: ${inertLine(messageOf(error), 600)}`);
      return false;
    }
  });
  return [...new Set([...allow.flags, ...fitting])];
}

/** Whether it is the name of a tool of an MCP server, known only when its server is connected. */
export function isMcpName(name: string): boolean {
  return /^mcp_[\w-]+$/.test(name);
}

function assertFlag(rule: string, tools: readonly Tool[]): void {
  if (isMcpName(rule)) return;
  const [name = ""] = rule.split(":", 1);
  if (isMcpName(name) && !tools.some((one) => one.name === name))
    throw codedError(
      "allow_rule_invalid",
      `--allow: the rule "${inertLine(rule, 200)}": a tool of an MCP server takes no pattern; use ${name}`,
    );
  try {
    parseRule(rule, tools);
  } catch (error) {
    if (codeOf(error) !== "allow_rule_invalid") throw error;
    throw codedError("allow_rule_invalid", `--allow: ${inertLine(messageOf(error), 600)}`);
  }
}
