/** The list of probes itself: one shape, agreement with our rules, with the recordings and with the document. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { systemClock } from "../../src/base/support/index.ts";
import { Context } from "../../src/diagnostics/conform/context.ts";
import { BROKEN_REPLAYS } from "../../src/diagnostics/conform/probes/broken.ts";
import { PROBES } from "../../src/diagnostics/conform/probes/index.ts";
import * as checks from "../../src/diagnostics/conform/probes/stream-checks.ts";
import { viewStream } from "../../src/diagnostics/conform/stream-view.ts";
import { createRequestCheck, RESPONSES_RULES } from "../../src/runtime/rules/index.ts";
import { emulatorUrl, KEY } from "./run-conform.ts";

test("every probe has its own id, a title, a reason and a place in the document", () => {
  const document = readFileSync(join(import.meta.dirname, "../../docs/conform.md"), "utf8");
  const documented = [...document.matchAll(/^\| `([a-z]+\.[a-z-]+)`/gm)].map(([, id]) => id);
  expect(documented).toEqual(PROBES.map(({ id }) => id));
  expect(new Set(documented).size).toBe(PROBES.length);
  for (const { title, why } of PROBES) expect([title, why]).not.toContain("");
});

async function contextOf(): Promise<Context> {
  const url = `${await emulatorUrl()}/responses`;
  const { signal } = new AbortController();
  return new Context({
    endpoint: { url, key: KEY, timeoutMs: 90_000, signal, clock: systemClock },
    model: "emu-reasoner",
    otherModel: "emu-reasoner-mini",
  });
}

/** A request does not show whether an item was never sent. */
const INVISIBLE = ["P02", "P03"];

test("our own rules refuse the broken histories too", async () => {
  const context = await contextOf();
  for (const replay of Object.values(BROKEN_REPLAYS)) {
    const [failure, own] = replay.breaks;
    const { input } = await replay.build(context);
    const check = createRequestCheck("openai-responses", {});
    for (const item of input) {
      const made = /"type":"(?:reasoning|function_call|message)"/.test(item);
      check.push(item, made ? { group: "response" } : {});
    }
    const found = check.violations().map(({ rule }) => rule);
    const rule = RESPONSES_RULES.find(({ id }) => id === own);
    if (own !== undefined) expect(rule?.evidence).toContain(failure);
    const seen = own === undefined || INVISIBLE.includes(failure) ? [] : [own];
    expect([failure, found]).toEqual([failure, expect.arrayContaining(seen)]);
  }
});

test("the unbroken histories break none of our rules", async () => {
  const context = await contextOf();
  const { history } = await import("../../src/diagnostics/conform/probes/replay.ts");
  for (const kind of ["message", "call"] as const) {
    const { head, group, tail } = await history(context, kind);
    const check = createRequestCheck("openai-responses", {});
    for (const item of [head, ...group, ...tail]) check.push(item);
    expect([kind, check.violations()]).toEqual([kind, []]);
  }
});

describe("recorded streams", () => {
  const folder = process.env["THROUGHLINE_FIXTURES"] ?? "";
  const place = [folder, join(folder, "openai-responses")].find((one) =>
    existsSync(join(one, "lmstudio-tool-call.1.chunks.txt")),
  );
  const all = Object.entries(checks).filter(([name]) => name !== "lastSequence") as [string, checks.Check][];

  /** A recording may hold several streams, one after the other. */
  function problemsIn(file: string): readonly string[] {
    const lines = readFileSync(join(place ?? "", file), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "");
    const starts = lines.flatMap((line, at) => (line.includes('"type":"response.created"') ? [at] : []));
    return starts.flatMap((from, index) => {
      const frames = lines.slice(from, starts[index + 1]).map((data) => {
        const body = JSON.parse(data) as Record<string, unknown>;
        const type = String(body["type"]);
        return { name: type, type, data, body };
      });
      const view = viewStream({
        status: 200,
        headers: {},
        streamed: true,
        frames,
        text: "",
        broken: undefined,
      });
      return all.flatMap(([name, check]) => (check(view).length > 0 ? [name] : []));
    });
  }

  const cases: readonly (readonly [file: string, problems: readonly string[]])[] = [
    ["openai-reasoning-encrypted-content.1.chunks.txt", []],
    ["openai-web-search-tool.1.chunks.txt", []],
    ["openai-error.1.chunks.txt", []],
    ["lmstudio-tool-call.1.chunks.txt", []],
    ["github-copilot-id-rotation.1.chunks.txt", ["changingIds"]],
  ];
  test.skipIf(place === undefined).each(cases)("%s", (file, problems) => {
    expect(readdirSync(place ?? ".")).toContain(file);
    expect(problemsIn(file)).toEqual(problems);
  });
});
