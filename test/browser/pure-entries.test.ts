/**
 * `throughline/check`, `throughline/client` and `throughline/fragments` in a real browser: bundled without any Node
 * module, and with the same results as here.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { build, type BuildResult } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { checkHistory, repairHistory } from "../../src/diagnostics/check/index.ts";
import type { LoggedEvent } from "../../src/index.ts";
import { blocksOf } from "../../src/interface/fragments/index.ts";
import { afterTest, temporaryFolder } from "../contracts/file-fixture.ts";
import { say, think } from "../contracts/session-fixture.ts";
import { served, type Served } from "../server/server-fixture.ts";
import { findChromium } from "./chromium.ts";
import { launch } from "./page-fixture.ts";

const found = findChromium();
const root = resolve(import.meta.dirname, "../..");

const ENTRIES = {
  check: "src/diagnostics/check/index.ts",
  client: "src/access/client/index.ts",
  fragments: "src/interface/fragments/index.ts",
};

/** Bundles an entry for a web page: a Node module cannot be resolved, and the build fails. */
function bundle(entry: string, outfile: string): Promise<BuildResult> {
  return build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "browser",
    format: "esm",
    logLevel: "silent",
  });
}

test.for(Object.entries(ENTRIES))("%s can be bundled without any Node module", async ([name, entry]) => {
  const outfile = join(temporaryFolder(), `${name}.js`);
  await bundle(join(root, entry), outfile);
  expect(readFileSync(outfile, "utf8")).not.toMatch(/\b(?:Buffer|process|require)\s*[.(]/);
});

test("a Node module that an entry imports fails the build", async () => {
  const folder = temporaryFolder();
  const entry = join(folder, "entry.ts");
  writeFileSync(
    entry,
    `export * from ${JSON.stringify(join(root, ENTRIES.check))};\nexport { readFileSync } from "node:fs";\n`,
  );
  await expect(bundle(entry, join(folder, "out.js"))).rejects.toThrow('Could not resolve "node:fs"');
});

/** `work` is the source of a function of the entry and `given`: a browser cannot load what a test imports. */
function inPage(page: Page, name: keyof typeof ENTRIES, work: string, given: unknown): Promise<unknown> {
  return page.evaluate(`import("/${name}.js").then((entry) => (${work})(entry, ${JSON.stringify(given)}))`);
}

interface Opened extends Served {
  readonly page: Page;
  readonly errors: readonly string[];
}

const why = "missing" in found ? ` (${found.missing})` : "";

describe.skipIf("missing" in found)(`the pure entries in a browser${why}`, () => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if ("path" in found) browser = await launch(found.path);
  });
  afterAll(() => browser?.close());

  /** The bundles are the server's page, so their requests go to its own origin. */
  async function open(): Promise<Opened> {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "index.html"), "<!doctype html><title>entries</title>");
    await Promise.all(
      Object.entries(ENTRIES).map(([name, entry]) => bundle(join(root, entry), join(folder, `${name}.js`))),
    );
    const parts = await served({
      server: { page: folder },
      script: [{ output: [think("Counting the stars"), say("There are many.")] }],
    });
    const context = await (browser as Browser).newContext();
    afterTest(() => context.close());
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(await parts.server.newLink());
    await page.waitForFunction("document.title === 'entries'");
    return { ...parts, page, errors };
  }

  test("check finds and repairs the same as here", async () => {
    const { page, errors } = await open();
    const broken = JSON.stringify([
      { role: "user", content: "Weather?" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_2", output: "sunny" },
    ]);
    const here = [checkHistory(broken), repairHistory(broken)];
    expect(here[0]).toMatchObject({ format: "responses", findings: [{ rule: "R07" }, { rule: "R06" }] });
    const there = await inPage(
      page,
      "check",
      "({ checkHistory, repairHistory }, text) => [checkHistory(text), repairHistory(text)]",
      broken,
    );
    expect(there).toEqual(JSON.parse(JSON.stringify(here)));
    expect(errors).toEqual([]);
  });

  test("the client sends a turn, and fragments makes the same blocks from its events", async () => {
    const { page, errors, remote } = await open();
    const there = (await inPage(
      page,
      "client",
      `async ({ connect }) => {
        const session = await (await connect(location.origin)).open();
        const { text, status } = await session.send("How many?").result();
        const events = [];
        for await (const event of session.events()) events.push(event);
        const { id } = session;
        await session.close();
        return { id, text, status, events };
      }`,
      undefined,
    )) as { readonly id: string; readonly events: readonly LoggedEvent[] };
    expect(there).toMatchObject({ text: "There are many.", status: "completed" });

    const session = await remote.open({ id: there.id });
    const events: LoggedEvent[] = [];
    for await (const event of session.events()) events.push(event);
    await session.close();
    expect(there.events).toEqual(events);

    const blocks = blocksOf(events, { writerAlive: false });
    expect(blocks.map(({ kind }) => kind)).toContain("reasoning");
    const work = "({ blocksOf }, events) => blocksOf(events, { writerAlive: false })";
    expect(await inPage(page, "fragments", work, events)).toEqual(JSON.parse(JSON.stringify(blocks)));
    expect(errors).toEqual([]);
  });
});
