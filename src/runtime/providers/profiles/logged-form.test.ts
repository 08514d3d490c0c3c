import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { PROFILES } from "./index.ts";

const LOGS = join(import.meta.dirname, "../../../../test/fixtures/logs/v0.1.0");

/** A session writes its settings again when their JSON differs from the log, so the order of fields counts. */
test("the fields of a profile have the order that kept logs have", () => {
  const logged = new Map<string, readonly string[]>();
  for (const file of readdirSync(LOGS).filter((name) => name.endsWith(".jsonl")))
    for (const [, profile = "{}"] of readFileSync(join(LOGS, file), "utf8").matchAll(
      /"profile":(\{.*?\}\})/g,
    )) {
      const value = JSON.parse(profile) as { readonly name: string };
      logged.set(value.name, Object.keys(value));
    }
  const now = new Map(Object.entries(PROFILES).map(([name, profile]) => [name, Object.keys(profile)]));
  const known = [...logged].filter(([name]) => now.has(name));
  expect(known.length).toBeGreaterThan(5);
  for (const [name, fields] of known)
    expect(now.get(name)?.filter((field) => fields.includes(field))).toEqual(
      fields.filter((field) => now.get(name)?.includes(field)),
    );
});

/**
 * Evidence is logged with its profile, so even a reworded one makes every resumed session log its settings again. Change
 * the hash only together with a change that is worth that.
 */
test("the profiles are logged as before, to the letter", () => {
  const hash = createHash("sha256").update(JSON.stringify(PROFILES)).digest("hex");
  expect(hash.slice(0, 16)).toBe("bad982cfb721580f");
});
