import { expect, test } from "vitest";

import { afterTest } from "../../../test/contracts/file-fixture.ts";
import { call, say } from "../../../test/contracts/session-fixture.ts";
import { EVERYTHING } from "../../../test/mcp/support/everything.ts";
import { scriptedAgent } from "../../../test/server/server-fixture.ts";
import type { LoggedEvent, SessionEvent } from "../../base/events/index.ts";
import { mcpTools } from "../../runtime/mcp/index.ts";
import { type Block, blocksOf, mcpQuestionLines, toolLabel, type ToolBlock, ToolNames } from "./index.ts";

const tools = (blocks: readonly Block[]): readonly ToolBlock[] =>
  blocks.filter((block) => block.kind === "tool");

test("blocks name the server and its tool, live and from the log; a name that no event explains stays", async () => {
  const mcp = await mcpTools({ servers: { all: EVERYTHING } });
  afterTest(() => mcp.close());
  const { agent, store } = await scriptedAgent({
    tools: [mcp],
    permissions: "ask",
    script: [
      { output: [call("mcp__all__echo", { message: "hi" }), call("mcp__all__absent", {})] },
      { output: [say("Done.")] },
    ],
  });
  const session = await agent.open({ store });
  afterTest(() => session.close());
  const live: SessionEvent[] = [];
  const asked: (readonly ToolBlock[])[] = [];
  for await (const event of session.send("go")) {
    live.push(event);
    if (event.type !== "permission_request") continue;
    asked.push(tools(blocksOf(live, { writerAlive: true })));
    await session.approve(event.requestId);
  }
  const logged: LoggedEvent[] = [];
  for await (const event of session.events()) logged.push(event);
  const blocks = tools(blocksOf(live, { writerAlive: true }));
  expect(blocks).toEqual(tools(blocksOf(logged, { writerAlive: true })));
  expect(blocks.map(toolLabel)).toEqual(["all/echo", "mcp__all__absent"]);
  expect(blocks[0]?.mcp).toEqual({ server: "all", tool: "echo" });
  expect(asked[0]?.[0]?.permission?.question).not.toHaveProperty("changed");
  const changed = logged.map((event) =>
    event.type === "permission_request" ? { ...event, changed: true } : event,
  );
  const untilAsked = changed.slice(0, changed.findIndex(({ type }) => type === "permission_request") + 1);
  const question = tools(blocksOf(untilAsked, { writerAlive: true }))[0]?.permission?.question;
  expect(question).toMatchObject({ changed: true, waits: true });
  // Without the settings, the question itself says whose tool it is.
  const blind = logged.filter(({ type }) => type !== "settings");
  expect(tools(blocksOf(blind, { writerAlive: true })).map(toolLabel)).toEqual([
    "all/echo",
    "mcp__all__absent",
  ]);
});

test("lines of a question escape what a server may have named", () => {
  expect(mcpQuestionLines({})).toEqual([]);
  expect(mcpQuestionLines({ mcp: { server: "docs", tool: "a\u001B[2J\nb" }, changed: true })).toEqual([
    String.raw`MCP server docs, its tool a\u{1B}[2J\nb`,
    "! The server changed the description or schema of this tool since you last allowed it.",
  ]);
});

test("names are known once settings have declared them", () => {
  const names = new ToolNames();
  expect(names.label("mcp__a__b")).toBe("mcp__a__b");
  names.add([{ name: "mcp__a__b", mcp: { server: "a", tool: "b" } }, { name: "own" }]);
  expect([names.label("mcp__a__b"), names.label("own"), names.of("own")]).toEqual(["a/b", "own", undefined]);
});
