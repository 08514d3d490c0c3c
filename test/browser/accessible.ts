/** Judges a page with axe, as assistive technology would read it. */

import { createRequire } from "node:module";

import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Expects no violation of any rule, however small. */
export async function accessible(page: Page): Promise<void> {
  await page.addScriptTag({ path: axe }).catch(() => page.evaluate(readAxe()));
  const violations = await page.evaluate(async () => {
    const { violations: found } = await (
      globalThis as unknown as {
        axe: {
          run(): Promise<{
            violations: readonly { id: string; nodes: readonly { html: string }[] }[];
          }>;
        };
      }
    ).axe.run();
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  });
  expect(violations).toEqual([]);
}

/** The page's policy allows no other script by its address, so the debugger evaluates it instead. */
function readAxe(): string {
  return createRequire(import.meta.url)("node:fs").readFileSync(axe, "utf8") as string;
}
