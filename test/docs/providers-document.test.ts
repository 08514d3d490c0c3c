import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { PROFILES, PROVIDERS } from "../../src/index.ts";
import { quoted, rows, section } from "./documents.ts";

const document = readFileSync(join(import.meta.dirname, "../../docs/providers.md"), "utf8");

test("docs/providers.md lists every provider with its profile, address and variables", () => {
  const listed = rows(section(document, "Providers")).map((row) => row.flatMap((cell) => quoted(cell)));
  const known = Object.values(PROVIDERS).map(
    ({ name, profile, baseUrl, baseUrlVariable, keyVariable, keyHeader }) => {
      if (typeof profile !== "string") throw new Error("a profile of the table has a name");
      const parts = [
        name,
        PROFILES[profile]?.dialect,
        profile,
        baseUrl,
        baseUrlVariable,
        keyVariable,
        keyHeader,
      ];
      return parts.filter((part) => part !== undefined);
    },
  );
  expect(listed).toEqual(known);
});

test("docs/providers.md lists every profile with its assumptions", () => {
  const listed = rows(section(document, "Profiles")).map(([name = "", , , assumed = ""]) => [
    quoted(name)[0],
    quoted(assumed),
  ]);
  const known = Object.values(PROFILES).map(({ name, evidence }) => [
    name,
    Object.keys(evidence).filter((field) => evidence[field]?.startsWith("assumed")),
  ]);
  expect(listed).toEqual(known);
});
