import { expect, test } from "vitest";

import { recentTools } from "./recent-tools.ts";

test("sessions of a folder share its tools, and another folder has its own", () => {
  const toolsOf = recentTools();
  const tools = toolsOf("/one");
  expect(toolsOf("/two")).not.toBe(tools);
  expect(toolsOf("/one")).toBe(tools);
});

test("only the folders that were used last are kept", () => {
  const toolsOf = recentTools();
  const [kept, dropped] = [toolsOf("/kept"), toolsOf("/dropped")];
  for (let number = 0; number < 31; number += 1) {
    toolsOf("/kept");
    toolsOf(`/folder-${number}`);
  }
  expect(toolsOf("/kept")).toBe(kept);
  expect(toolsOf("/dropped")).not.toBe(dropped);
});
