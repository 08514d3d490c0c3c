import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { VERSION } from "./version.ts";

test("the version is the package's", () => {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  expect(VERSION).toBe((JSON.parse(text) as { readonly version: string }).version);
});
