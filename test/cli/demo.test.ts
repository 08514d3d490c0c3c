/** `start` without a terminal, and the modules that a command loads. */

import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, inject, test } from "vitest";

import type { ChunkInputs } from "../support/build-once.ts";
import { emulatorOf, eventsOf, expectNoTrace, newPlace, onlyLog, run, treeOf } from "./harness.ts";

test("`start` plays a whole conversation: two tools, a thought that is sent back, and where the log is", async () => {
  const place = newPlace();
  const ran = await run(place, ["start"], { env: { OPENAI_API_KEY: "sk-not-used-0000" } });
  expect(ran).toMatchObject({ code: 0, err: "" });
  expectNoTrace(ran);
  expect(ran.out).toMatch(/^A conversation on the built-in emulator/);
  expect(ran.out.match(/^✓ get_weather: /gm)).toHaveLength(2);
  expect(ran.out).toMatch(
    /\n› Which number did you think of\?\n[^]*I thought of \d+\. It was in my own notes/,
  );
  expect(ran.out).toMatch(/hand back (\d+) of \1 thoughts, byte for byte/);
  const shown = /^Log: (.+)$/m.exec(ran.out)?.[1] ?? "";
  expect(existsSync(shown)).toBe(true);
  const { id, file, events } = await onlyLog(place);
  expect(shown).toBe(file);
  expect(ran.out).toContain(`\nTo continue on a terminal: throughline -r ${id}\n`);
  expect(eventsOf(events, "tool_result").map(({ status }) => status)).toEqual(["ok", "ok"]);
  expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual([
    "completed",
    "completed",
    "completed",
  ]);
  expect(treeOf(place.work)).toEqual([]); // the demo touches nothing of the user's
});

test("`npm start` shows how to continue with npm", async () => {
  const ran = await run(newPlace(), ["start"], { env: { npm_lifecycle_event: "start" } });
  expect(ran.out).toMatch(/\nTo continue on a terminal: npm start -- -r s_\w+\n$/);
});

describe("a command loads only the modules it needs", () => {
  const chunks = JSON.parse(readFileSync(join(inject("bundle"), "chunks.json"), "utf8")) as ChunkInputs;

  /** The source files in the chunks that one run of the command has loaded. */
  async function loadedBy(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const place = newPlace();
    const coverage = mkdtempSync(join(place.work, "coverage-"));
    const ran = await run(place, args, { env: { ...env, NODE_V8_COVERAGE: coverage } });
    expect(ran.code).toBe(0);
    const urls = readdirSync(coverage).flatMap((name) => {
      const report = JSON.parse(readFileSync(join(coverage, name), "utf8")) as {
        readonly result: readonly { readonly url: string }[];
      };
      return report.result.map(({ url }) => url);
    });
    const files = urls.filter((url) => url.startsWith("file:")).map((url) => fileURLToPath(url));
    const inputs = files.flatMap((file) => chunks[file] ?? []);
    expect(inputs).toContain("src/interface/cli/main.ts"); // a checker that saw nothing must not pass
    return inputs;
  }

  test.for([["--version"], ["-V"]])("%s loads no argument parser and no command", async ([flag = ""]) => {
    const inputs = await loadedBy([flag]);
    expect(inputs.filter((one) => !one.startsWith("src/base/support/")).toSorted()).toEqual([
      "package.json",
      "src/interface/cli/exit-codes.ts",
      "src/interface/cli/main.ts",
      "src/interface/cli/print-version.ts",
      "src/interface/cli/unread-output.ts",
    ]);
  });

  test("--help loads the command tree and nothing else", async () => {
    const inputs = await loadedBy(["--help"]);
    const folders = inputs
      .filter((one) => one.startsWith("src/"))
      .map((one) => one.split("/").slice(1, 3).join("/"));
    expect([...new Set(folders)].toSorted()).toEqual(["base/support", "interface/cli"]);
    expect(inputs.filter((one) => /commands|chat|demo|run-once|open-session/.test(one))).toEqual([]);
  });

  test("the highlighter is in a file of its own, which the chat loads when code appears", () => {
    const withIt = Object.values(chunks).filter((inputs) =>
      inputs.includes("src/interface/highlight/highlighter.ts"),
    );
    expect(withIt.map((inputs) => inputs.filter((one) => one.startsWith("src/")).toSorted())).toEqual([
      ["src/interface/highlight/highlight-js.mjs", "src/interface/highlight/highlighter.ts"],
    ]);
  });

  test.for([["-p hello"], ["sessions list"], ["stats"]])(
    "without a PostgreSQL store, %s loads nothing of it",
    async ([line = ""]) => {
      const inputs = await loadedBy(line.split(" "));
      expect(inputs).toContain("src/interface/cli/open-store.ts");
      expect(inputs.filter((one) => one.startsWith("src/runtime/postgres/"))).toEqual([]);
    },
  );

  test("a prompt to a real endpoint does not load the emulator or the chat", async () => {
    const { env } = await emulatorOf();
    const inputs = await loadedBy(["-p", "hello"], env);
    expect(inputs).toContain("src/runtime/session/session.ts");
    expect(inputs.filter((one) => /^src\/emulator\/|cli\/chat|cli\/demo|cli\/commands/.test(one))).toEqual(
      [],
    );
  });
});
