import { expect, test } from "vitest";

import { weatherTool } from "../../../test/support/weather-tool.ts";
import { emulator } from "../models/index.ts";
import { createAgent } from "./agent.ts";

test.each(["emu-reasoner", "emu-claude", "emu-deepseek"])(
  "the preview of %s lists every part, and never a payload",
  async (model) => {
    const agent = createAgent({ model: emulator({ model }), tools: [weatherTool] });
    const session = await agent.open();
    await session.send("What is the weather in Paris?").text();
    const { items, violations } = await session.preview();
    expect(violations).toEqual([]);
    const heads = items.map(({ head }) => head).join("\n");
    expect(items.length).toBeGreaterThanOrEqual(4);
    expect(heads).toContain("What is the weather in Paris?");
    expect(heads).toContain("get_weather");
    expect(heads).not.toMatch(/[A-Za-z0-9+/_-]{40}/);
    await session.close();
  },
);

test("a switch to an endpoint that accepts no thoughts back says so beforehand", async () => {
  const agent = createAgent({ model: emulator() });
  const session = await agent.open();
  await session.setModel(emulator({ model: "emu-deepseek-old" }));
  await session.send("Hello").text();
  expect(await session.previewSwitch(emulator({ model: "emu-deepseek-old" }))).toMatchObject({
    kept: 0,
    dropped: 1,
  });
  await session.close();
});
