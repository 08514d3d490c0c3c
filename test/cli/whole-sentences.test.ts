/**
 * Problems are reported in full, including what was done about them. A duration under a second is not shown as zero.
 */

import { expect, test } from "vitest";

import { emulatorOf, newPlace, run } from "./harness.ts";

test("an effort that the model does not accept: -p and sessions show print the whole refusal", async () => {
  const place = newPlace();
  const { env } = await emulatorOf();
  const told = /refused the request \(Unsupported parameter: .*\); sent again without "reasoning\.effort"$/m;
  const asked = await run(place, ["-p", "-m", "openai/emu-plain:high", "hello"], { env });
  expect(asked.code).toBe(0);
  expect(asked.err).toMatch(told);
  const { out } = await run(place, ["sessions", "show", "--last"], { env });
  expect(out).toMatch(told);
});

test("a thought and a turn shorter than a second are shown as less than one", async () => {
  const place = newPlace();
  const { env } = await emulatorOf({
    steps: [{ output: [{ reasoning: ["**Looking**\n\nAround."] }, { message: "Done." }] }],
  });
  const { err } = await run(place, ["-p", "hello"], { env });
  const { out } = await run(place, ["sessions", "show", "--last"], { env });
  expect(err).toMatch(/· Thought for [\d.]+(?:s| ms)/);
  expect(out).toMatch(/─ completed · [\d.]+(?:s| ms)/);
  expect(err + out).not.toMatch(/\b0s/);
});
