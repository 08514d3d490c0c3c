import { expect, test } from "vitest";

import { systemClock } from "../../base/support/index.ts";
import { Connection } from "./connection.ts";
import { mcpTool } from "./mcp-tool.ts";
import { readTools } from "./tool-definition.ts";

const HINTED = { name: "look", annotations: { readOnlyHint: true, idempotentHint: true, title: "Look" } };

function toolOf(trust: boolean | undefined): ReturnType<typeof mcpTool> {
  const [definition] = readTools([HINTED]).tools;
  if (definition === undefined) throw new Error("the tool was left out");
  const connection = new Connection("docs", { command: "unused", trust }, { cwd: ".", clock: systemClock });
  return mcpTool("mcp__docs__look", definition, connection);
}

test("what a server says of its tool counts only if the user trusts the server", () => {
  for (const trust of [undefined, false])
    expect(toolOf(trust)).toMatchObject({ access: "execute", idempotent: false });
  expect(toolOf(true)).toMatchObject({ access: "read", idempotent: true });
});

test("a tool knows its server and the server's own name for it", () => {
  expect(toolOf(undefined).mcp).toEqual({ server: "docs", tool: "look" });
});
