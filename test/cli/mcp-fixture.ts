/** Settings with real MCP servers, for commands that tests start. */

import { ABSENT, EVERYTHING } from "../mcp/support/everything.ts";
import type { Place } from "./harness.ts";

/** Writes a file for `--mcp-config` and returns the flags that name it. */
export function withServers(
  place: Place,
  servers: Readonly<Record<string, object>> = { all: EVERYTHING, gone: ABSENT },
): readonly string[] {
  place.write("servers.json", JSON.stringify({ mcpServers: servers }));
  return ["--mcp-config", "servers.json"];
}

export const callEcho = (message: string): object => ({
  output: [{ function_call: { name: "mcp__all__echo", arguments: { message } } }],
});

export const says = (text: string): object => ({ output: [{ message: text }] });
