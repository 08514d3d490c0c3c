import { expect, test } from "vitest";

import { afterTest, cleanUpTest } from "./clean-up.ts";

test("everything is undone, last made first, even if some of it fails", async () => {
  const undone: string[] = [];
  afterTest(() => undone.push("first"));
  afterTest(async () => Promise.reject(new Error("second")));
  afterTest(() => undone.push("third"));
  await expect(cleanUpTest()).rejects.toThrow("second");
  expect(undone).toEqual(["third", "first"]);
  await cleanUpTest(); // nothing is undone twice
  expect(undone).toHaveLength(2);
});
