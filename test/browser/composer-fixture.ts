/** What the tests of the composer share: its field, held requests, real servers with the page, and a strict judge. */

import { cpSync, existsSync, mkdtempSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import type { BrowserContext, Locator, Page } from "playwright-core";
import { expect, inject } from "vitest";

import type { Place } from "../cli/harness.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { serve, type Server } from "../tui/server-harness.ts";
import type { RealPage } from "./page-fixture.ts";

export function fieldOn(page: Page): Locator {
  return page.getByRole("textbox", { name: "Your message" });
}

/** A row of the queue above the field. */
export function queueRow(page: Page, words: string): Locator {
  return page.getByRole("list", { name: "Queued messages" }).getByRole("listitem").filter({ hasText: words });
}

/** The tests have no types of a browser. */
interface TextBox {
  readonly selectionStart: number;
  readonly selectionEnd: number;
  setSelectionRange(start: number, end: number): void;
}

export async function caretOf(field: Locator): Promise<readonly [number, number]> {
  return field.evaluate((box) => {
    const { selectionStart, selectionEnd } = box as unknown as TextBox;
    return [selectionStart, selectionEnd] as const;
  });
}

export async function select(field: Locator, start: number, end = start): Promise<void> {
  await field.evaluate((box, at) => (box as unknown as TextBox).setSelectionRange(at[0], at[1]), [
    start,
    end,
  ] as const);
}

/** Holds back requests that start a turn until they are released. Counts them. */
export async function holdTurns(page: Page): Promise<{ readonly seen: () => number; release(): void }> {
  let seen = 0;
  const held = new AbortController();
  const released = new Promise<void>((resolve) => {
    held.signal.addEventListener("abort", () => resolve());
  });
  await page.route("**/turns", async (route) => {
    seen += 1;
    await released;
    await route.continue().catch(() => undefined);
  });
  return { seen: () => seen, release: () => held.abort() };
}

/** The words of the messages in the log. */
export async function messagesIn(remote: {
  open(options: { id: string; mode: "read" }): Promise<{
    events(): AsyncIterable<{ readonly type: string; readonly content?: unknown }>;
  }>;
  list(): Promise<readonly { readonly id: string }[]>;
}): Promise<readonly string[]> {
  const words: string[] = [];
  for (const { id } of await remote.list()) {
    const session = await remote.open({ id, mode: "read" });
    for await (const event of session.events())
      if (event.type === "user_message")
        words.push(
          (event.content as readonly { readonly text?: string; readonly type: string }[])
            .map((part) => part.text ?? `(${part.type})`)
            .join(" "),
        );
  }
  return words;
}

/** A server process that serves the built page. */
export function serveWithPage(
  real: RealPage,
  place: Place,
  env: Readonly<Record<string, string>>,
  port?: number,
): Promise<Server> {
  const folder = join(inject("bundle"), "package", "dist", "web");
  if (!existsSync(folder)) {
    const copy = mkdtempSync(join(inject("bundle"), "web-"));
    cpSync(real.built, copy, { recursive: true });
    try {
      renameSync(copy, folder);
    } catch {
      // A test in another process was first.
    }
  }
  return serve(place, env, port);
}

export async function kill({ child, exited }: Server): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

export async function newContext(real: RealPage): Promise<BrowserContext> {
  const context = await real.browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(60_000);
  afterTest(() => context.close());
  return context;
}

const axe = createRequire(import.meta.url)("node:fs").readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
) as string;

/** Expects no violation at all in a part of the page, in both themes, wide and on a phone. */
export async function flawless(page: Page, part: string): Promise<void> {
  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 800 });
      const found = await page.evaluate(async (selector) => {
        const { violations } = await (
          globalThis as unknown as {
            axe: {
              run(where: string): Promise<{
                violations: readonly { id: string; nodes: readonly { html: string }[] }[];
              }>;
            };
          }
        ).axe.run(selector);
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
      }, part);
      expect({ colorScheme, width, found }).toEqual({ colorScheme, width, found: [] });
      const least = width === 390 ? 44 : 24;
      const boxes = await page.locator(`${part} :is(button, input, textarea):visible`).all();
      const small: string[] = [];
      for (const one of boxes) {
        const box = await one.boundingBox();
        if (box === null || (box.height >= least && box.width >= least)) continue;
        small.push(`${box.width}×${box.height}: ${await one.evaluate((element) => element.outerHTML)}`);
      }
      expect({ width, small }).toEqual({ width, small: [] });
    }
  await page.setViewportSize({ width: 1280, height: 800 });
}
