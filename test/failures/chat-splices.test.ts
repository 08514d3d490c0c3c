import { describe, expect, test } from "vitest";

import { openaiChat } from "../../src/index.ts";
import { emulatedProfile } from "../../src/runtime/models/index.ts";
import { weatherTool } from "../support/weather-tool.ts";
import { bench, KEY, ofType } from "./harness.ts";

const MODELS = ["emu-deepseek", "emu-kimi", "emu-mistral", "emu-groq", "emu-router"];

/** Three turns with a tool; every answer has this fault. */
async function played(model: string, fault: string): Promise<object> {
  const faults = Array.from({ length: 8 }, () => fault);
  const spliced = await bench({ faults, tools: [weatherTool] });
  const { emulator, session } = spliced;
  await session.setModel(
    openaiChat(model, { apiKey: KEY, baseUrl: emulator.baseUrl, profile: emulatedProfile(model) }),
  );
  await spliced.ask("Think of a number.");
  expect(await spliced.ask("What is the weather in Oslo?")).toContain("Oslo");
  expect(await spliced.ask("Which number was it?")).toContain("they came back to me");
  const { requests, refused, recall } = emulator.report().totals;
  const ends = ofType(await spliced.log(), "response_end").map(({ status, error }) => error?.code ?? status);
  return { requests, refused, recall, ends: [...new Set(ends)].toSorted() };
}

describe("when another answer begins in the middle of the first (R13)", () => {
  test.for(MODELS.flatMap((model) => [2, 3, 5, 9].map((count) => [model, count] as const)))(
    "%s, after %i chunks: the second is the answer, with one request each, and every thought is kept",
    async ([model, count]) => {
      expect(await played(model, `spliced-start=${count}`)).toEqual({
        requests: 4,
        refused: 0,
        recall: 1,
        ends: ["completed", "stream_spliced"],
      });
    },
  );

  test.for(MODELS)("%s: ids that change with every chunk do not make another answer", async (model) => {
    expect(await played(model, "rotate-ids")).toEqual({
      requests: 4,
      refused: 0,
      recall: 1,
      ends: ["completed"],
    });
  });
});
