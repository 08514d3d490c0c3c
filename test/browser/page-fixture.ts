/**
 * The built page in a real browser, in front of a server on a real port and a scripted emulator.
 *
 * @module
 */

import { mkdtempSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, inject } from "vitest";

import { afterTest, temporaryFolder } from "../contracts/file-fixture.ts";
import { served, type Served, type ServedOptions } from "../server/server-fixture.ts";
import { findChromium } from "./chromium.ts";

/** Only to fail with what was waited for instead of a bare time-out. */
const DEADLINE_MS = 90_000;

const root = resolve(import.meta.dirname, "../..");

export interface Opened extends Served {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Requests to anywhere but the server. */
  readonly elsewhere: readonly string[];
  readonly errors: readonly string[];
  /** Another tab of the same browser, on the same session. */
  tab(): Promise<Page>;
}

let ready: Promise<string> | undefined;

/** Built once in a worker, into a folder that is removed with the output of the global set-up. */
function builtPage(): Promise<string> {
  ready ??= buildPage();
  return ready;
}

async function buildPage(): Promise<string> {
  const outDir = mkdtempSync(join(inject("bundle"), "page-"));
  await build({
    configFile: join(root, "src/interface/web/vite.config.ts"),
    logLevel: "error",
    build: { outDir, emptyOutDir: true },
  });
  return outDir;
}

export function launch(path: string): Promise<Browser> {
  // Chromium has no sandbox when it runs as root.
  return chromium.launch({
    executablePath: path,
    args: ["--no-sandbox", "--disable-gpu"],
    timeout: DEADLINE_MS,
  });
}

/** A browser and the built page for all tests of a file; `missing` says why there are none. */
export interface RealPage {
  readonly missing: string | undefined;
  readonly browser: Browser;
  readonly built: string;
}

export function realPage(): RealPage {
  const found = findChromium();
  const missing = "missing" in found ? found.missing : undefined;
  // Made before the first test, and not used by any skipped one.
  const real = { missing } as { missing: string | undefined; browser: Browser; built: string };
  beforeAll(async () => {
    if ("missing" in found) return;
    real.built = await builtPage();
    real.browser = await launch(found.path);
  });
  afterAll(async () => {
    await real.browser?.close();
  });
  return real;
}

/** Describes tests of the page. Without a browser they are skipped, with the reason in the name. */
export function describePage(real: RealPage, name: string, tests: () => void): void {
  const why = real.missing === undefined ? "" : ` (${real.missing})`;
  describe.skipIf(real.missing !== undefined)(`${name}${why}`, tests);
}

export async function openPage(real: RealPage, options: ServedOptions = {}): Promise<Opened> {
  const { browser, built } = real;
  const parts = await served({
    ...options,
    server: {
      page: built,
      info: { models: ["test/emu-reasoner", "test/emu-reasoner-mini"] },
      ...options.server,
    },
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(DEADLINE_MS);
  afterTest(() => context.close());
  const elsewhere: string[] = [];
  const errors: string[] = [];
  const watch = (page: Page): void => {
    page.on("request", (request) => {
      if (!request.url().startsWith(parts.server.url) && !request.url().startsWith("data:"))
        elsewhere.push(request.url());
    });
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("dialog", (dialog) => {
      errors.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  };
  context.on("page", watch);
  const page = await context.newPage();
  await page.goto(await parts.server.newLink());
  await page.getByRole("button", { name: "New session" }).waitFor();
  return {
    ...parts,
    page,
    context,
    elsewhere,
    errors,
    async tab() {
      const other = await context.newPage();
      await other.goto(page.url());
      return other;
    },
  };
}

/** Begins a session and sends a first message. */
export async function begin(page: Page, words: string): Promise<void> {
  await page.getByRole("button", { name: "New session" }).click();
  await say(page, words);
}

export async function say(page: Page, words: string): Promise<void> {
  await page.getByRole("textbox", { name: "Your message" }).fill(words);
  await page.keyboard.press("Enter");
}

/** What a user can read in the conversation, block by block; durations differ from run to run. */
export async function blocksOn(page: Page): Promise<readonly string[]> {
  const texts = await page.locator("[data-block]").allInnerTexts();
  return texts.map((text) =>
    text
      .replaceAll(/\d+h \d+m|\d+m \d+s|[\d.]+s\b|\d+ ms/g, "Ns")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

export async function sameInAll(...pages: readonly Page[]): Promise<void> {
  const [first, ...others] = pages;
  if (first === undefined) return;
  for (const other of others) {
    // Both may still change: one may not have received the other's last text yet.
    const shown = async () => ({ first: await blocksOn(first), other: await blocksOn(other) });
    await expect
      .poll(shown)
      .toSatisfy((both: Awaited<ReturnType<typeof shown>>) => isDeepStrictEqual(both.first, both.other));
  }
}

export { temporaryFolder };
