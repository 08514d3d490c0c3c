/** What axe finds in a part of a page, of any impact. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import type { Page } from "playwright-core";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Axe {
  run(part: string): Promise<{ readonly violations: readonly Violation[] }>;
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

export async function violationsIn(page: Page, part: string): Promise<readonly string[]> {
  // The page's policy allows no other script by its address, so the debugger evaluates it.
  await page.evaluate(readFileSync(axe, "utf8"));
  return page.evaluate(async (selector) => {
    const { violations } = await (globalThis as unknown as { readonly axe: Axe }).axe.run(selector);
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(" | ")}`,
    );
  }, part);
}
