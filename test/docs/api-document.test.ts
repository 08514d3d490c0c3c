import { expect, test } from "vitest";

import { CANONICAL_TYPES } from "../../src/base/events/index.ts";
import { PROFILES } from "../../src/runtime/providers/index.ts";
import { DEFAULT_LIMITS } from "../../src/runtime/turn/index.ts";
import { publicExports } from "../support/public-exports.ts";
import { quoted, read, rows, section } from "./documents.ts";

const document = read("docs/api.md");

function isNamed(name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(document);
}

test("docs/api.md names every public export, types included", () => {
  const all = publicExports().map(({ name }) => name);
  expect(all.length).toBeGreaterThan(50);
  expect(all.filter((name) => !isNamed(name))).toEqual([]);
});

test("the section of an entry names every export that no other entry has", () => {
  const all = publicExports();
  const own = all.filter(
    ({ entry, name }) =>
      entry !== "throughline" && all.every((one) => one.name !== name || one.entry === entry),
  );
  expect(new Set(own.map(({ entry }) => entry)).size).toBe(7);
  const missing = own.filter(
    ({ entry, name }) => !new RegExp(`\\b${name}\\b`).test(section(document, entry)),
  );
  expect(missing.map(({ entry, name }) => `${entry}: ${name}`)).toEqual([]);
});

test("docs/api.md lists exactly the event types", () => {
  const ephemeral = [...read("src/base/events/ephemeral.ts").matchAll(/readonly type: "(\w+)"/g)].map(
    ([, type]) => type,
  );
  const documented = rows(section(document, "Events")).map(([name = ""]) => quoted(name)[0]);
  expect(documented).toEqual([...CANONICAL_TYPES, ...ephemeral]);
});

/** The text between the braces of an interface. */
function bodyOf(path: string, head: RegExp): string {
  return new RegExp(`export interface ${head.source} \\{([\\s\\S]*?)\\n\\}`).exec(read(path))?.[1] ?? "";
}

test("docs/api.md lists exactly the members of a session", () => {
  const body = `${bodyOf("src/runtime/session/types.ts", /Session extends SessionHandle/)}\n${bodyOf("src/base/api/session-handle.ts", /SessionHandle/)}`;
  const built = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[(<:]/gm)].map(([, name = ""]) => name);
  const documented = rows(section(document, "Session"))
    .filter((cells) => cells.length === 3)
    .flatMap(([member = ""]) => quoted(member))
    .filter((text) => text !== "await using")
    .map((text) => /^\w+/.exec(text)?.[0] ?? text);
  const options = new Set(["signal", "turn", "model", "effort", "output", "whenBusy"]);
  expect(built.length).toBeGreaterThan(15);
  expect(new Set(documented.filter((name) => built.includes(name) || !options.has(name)))).toEqual(
    new Set(built),
  );
});

/** The members of a union of string literals. */
function union(path: string, type: string): readonly string[] {
  const body = new RegExp(`export type ${type} =([^;]*);`).exec(read(path))?.[1] ?? "";
  return [...body.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
}

test("docs/api.md names every reason of a decision and every class of an error", () => {
  const listed = /`Reason`: ([^.]*)\./.exec(document)?.[1] ?? "";
  expect(quoted(listed)).toEqual(union("src/base/events/decision.ts", "Reason"));
  const classes = section(document, "Turn").split("`ErrorClass` says")[1] ?? "";
  const named = quoted(classes).filter((word) => /^[A-Z]+$/.test(word));
  expect(named.toSorted()).toEqual([...union("src/base/events/error-info.ts", "ErrorClass")].toSorted());
});

test("docs/api.md gives the real limits of a turn", () => {
  const documented = rows(section(document, "createAgent"))
    .map(([name = "", value = ""]) => [quoted(name)[0], Number(value.replaceAll(",", ""))] as const)
    .filter(([name]) => name !== undefined && name in DEFAULT_LIMITS);
  expect(Object.fromEntries(documented)).toEqual(DEFAULT_LIMITS);
});

test("docs/api.md names every profile", () => {
  const list = /^- Profiles: ([^.]*)\./m.exec(section(document, "Models"))?.[1] ?? "";
  expect(quoted(list).toSorted()).toEqual(Object.keys(PROFILES).toSorted());
});
