/** A message never joins while a call that the provider runs waits for its result: the call would be lost. */

import { expect, test } from "vitest";

import {
  claudeBench,
  claudeSays,
  messagesOf,
  serverResult,
  serverUse,
  text,
  toolUse,
} from "./claude-harness.ts";
import { echoTool } from "./harness.ts";

const search = serverUse("srvtoolu_1", "web_search");
const found = serverResult("srvtoolu_1", "web_search_tool_result");

test.each([
  ["a paused search", [text("Looking."), search], "pause_turn"],
  ["a search next to one of our tools", [search, toolUse("toolu_1", "x")], "tool_use"],
] as const)("waits for %s, and joins at the step after it", async (_name, blocks, stop) => {
  let bench: Awaited<ReturnType<typeof claudeBench>> | undefined;
  bench = await claudeBench(
    (_, request) => {
      if (request === 1) {
        bench?.session.send("And b.", { whenBusy: "steer", turn: "joined" });
        return claudeSays(blocks, { stop });
      }
      if (request === 2)
        return claudeSays([found, toolUse("toolu_2", "x")], { id: "msg_2", stop: "tool_use" });
      return claudeSays([text("Done.")], { id: "msg_3" });
    },
    { tools: [echoTool()] },
  );
  expect(await bench.ask("Look up a.")).toBe("Done.");
  const before =
    stop === "pause_turn"
      ? ["assistant: text server_tool_use"]
      : ["assistant: server_tool_use tool_use", "user: tool_result"];
  expect(messagesOf(bench.server.bodies[1])).toEqual(["user: text", ...before]);
  expect(messagesOf(bench.server.bodies[2])).toEqual([
    "user: text",
    ...before,
    "assistant: web_search_tool_result tool_use",
    "user: tool_result",
    "user: text",
  ]);
});
