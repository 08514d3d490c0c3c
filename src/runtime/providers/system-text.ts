/** The instructions of a request: the agent's own, then what its MCP servers say, each under its server's name. */

import type { Settings } from "../../base/events/index.ts";

export function systemTextOf({
  system,
  serverInstructions = [],
}: Pick<Settings, "system" | "serverInstructions">): string | undefined {
  if (serverInstructions.length === 0) return system;
  const said = serverInstructions.map(
    ({ server, text }) => `Instructions of the MCP server "${server}":\n\n${text}`,
  );
  return [...(system === undefined || system.trim() === "" ? [] : [system]), ...said].join("\n\n");
}
