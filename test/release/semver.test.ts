import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";

import { root } from "../docs/documents.ts";

const { isGreater, parseVersion } = (await import(
  pathToFileURL(join(root, "scripts/release/semver.mjs")).href
)) as {
  readonly isGreater: (a: string, b: string) => boolean;
  readonly parseVersion: (text: string) => unknown;
};

/** The order that https://semver.org (11) gives as its example, with a release on either side. */
const ORDER = [
  "0.9.10",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-beta",
  "1.0.0-beta.2",
  "1.0.0-beta.11",
  "1.0.0-rc.1",
  "1.0.0",
  "1.0.2",
  "1.0.10",
];

test("versions are ordered by their precedence", () => {
  for (const [i, a] of ORDER.entries()) {
    for (const [j, b] of ORDER.entries()) expect([a, b, isGreater(a, b)]).toEqual([a, b, i > j]);
  }
  expect(isGreater("1.0.0+build", "1.0.0")).toBe(false);
});

test.for(["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3 ", "1.2.3\n"])(
  "%j is not a version",
  (text) => {
    expect(parseVersion(text)).toBeUndefined();
  },
);
