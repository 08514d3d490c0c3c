import { expect, test } from "vitest";

import { type Origin, originDifference, sameOrigin } from "./origin.ts";

const home: Origin = {
  provider: "openai",
  dialect: "openai-responses",
  model: "m",
  endpoint: "https://a.test/v1",
  credential: "abc",
};

test.each<[Partial<Origin>, string]>([
  [{ provider: "xai" }, "made by openai"],
  [{ dialect: "openai-chat" }, "made on openai-responses"],
  [{ model: "n" }, "made by m"],
  [{ endpoint: "https://b.test/v1" }, "made at https://a.test/v1"],
  [{ credential: "def" }, "made under another account"],
])("an origin with %j is different, and the difference is named", (change, words) => {
  expect(sameOrigin(home, { ...home, ...change })).toBe(false);
  expect(originDifference(home, { ...home, ...change })).toBe(words);
});

test("equal origins are the same", () => {
  expect(sameOrigin(home, { ...home })).toBe(true);
});
