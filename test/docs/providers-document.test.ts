import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type Profile, PROFILES, PROVIDERS } from "../../src/index.ts";
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

/** The profile that a profile of its dialect is compared with. */
function baseOf({ name, dialect }: Profile): string {
  if (dialect === "openai-responses") return "openai";
  if (dialect === "anthropic-messages") return "anthropic";
  return name === "openai-chat" || name === "generic-chat" ? "openai-chat" : "generic-chat";
}

/** The fields that shape requests, those of `chat` among them. */
function fieldsOf({ name: _name, dialect: _dialect, evidence: _evidence, chat, ...own }: Profile): object {
  return { ...own, ...chat };
}

function departuresOf(profile: Profile): string {
  const base = PROFILES[baseOf(profile)];
  if (base === undefined) throw new Error(`there is no profile ${baseOf(profile)}`);
  const before = new Map(
    Object.entries(fieldsOf(base)).map(([name, value]) => [name, JSON.stringify(value)]),
  );
  const departs = Object.entries(fieldsOf(profile))
    .map(([name, value]) => ({ name, text: JSON.stringify(value), none: value === Number.MAX_SAFE_INTEGER }))
    .filter(({ name, text }) => before.get(name) !== text);
  return departs.map(({ name, text, none }) => `\`${name}\` ${none ? "none" : text}`).join("; ") || "nothing";
}

test("docs/providers.md lists every profile with its departures and assumptions", () => {
  const listed = [...section(document, "Profiles").matchAll(/^- `.*\.\n {2}Assumed: .*\.$/gm)].map(
    ([text]) => text,
  );
  const known = Object.values(PROFILES).map((profile) => {
    const { name, evidence } = profile;
    const assumed = Object.keys(evidence).filter((field) => evidence[field]?.startsWith("assumed"));
    return `- \`${name}\`: ${departuresOf(profile)}.\n  Assumed: ${assumed.map((field) => `\`${field}\``).join(", ")}.`;
  });
  expect(listed).toEqual(known);
});
