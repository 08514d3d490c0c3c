/** The trace, the plots, the events and the block in a real browser: keys, order, size and contrast. */

import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";

import { say as answer, think } from "../contracts/session-fixture.ts";
import { longTurn, openInspector, openLog, type TabName, twoTurns } from "./inspector-fixture.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";
import { violationsIn } from "./violations-in.ts";

const real = realPage();

const TABS: readonly TabName[] = ["Request", "Trace", "Plots", "Events", "Block"];

describePage(real, "the trace in the inspector", () => {
  test("is a tree of turns, steps, attempts, thoughts, waits and tools, and a wait is a mark and not a bar", async () => {
    const { page } = await twoTurns(real);
    const panel = await openInspector(page, "Trace");
    await panel.getByRole("heading", { name: "2 turns, 5 steps" }).waitFor();
    expect(await panel.locator(".section .meta").first().innerText()).toMatch(/ worked, .* waited for you$/);
    const rows = panel.getByRole("treeitem");
    expect(await panel.locator("[role=treeitem] .label").allInnerTexts()).toEqual([
      "Turn 1",
      "Step 1 · request 1",
      "Thought, 3 parts",
      "Read core/tsconfig.json",
      "Step 2 · request 3, attempt 2",
      "Attempt 1, cut",
      "Run npm run build, exit 3",
      "Step 3 · request 4",
      "Thought, 1 part",
      "Answer",
      "Turn 2",
      "Step 1 · request 5",
      "Thought, 1 part",
      "Waited for you",
      "Edit core/tsconfig.json",
      "Step 2 · request 6",
      "Thought, 1 part",
      "Answer",
    ]);
    const wait = rows.filter({ hasText: "Waited for you" }).locator(".track i");
    expect(await wait.evaluate((mark) => mark.getBoundingClientRect().width)).toBeLessThan(4);
    for (const bar of await panel.locator(".track").all()) expect(await bar.evaluate(isInside)).toBe(true);
  });

  test("can be walked, opened and closed with the keys of a tree", async () => {
    const { page } = await twoTurns(real);
    const panel = await openInspector(page, "Trace");
    const rows = panel.getByRole("treeitem");
    const focused = (): Promise<string> => page.locator("[role=treeitem]:focus .label").innerText();
    await rows.first().focus();
    expect(await panel.locator('[role=treeitem][tabindex="0"]').count()).toBe(1);
    const walked: string[] = [];
    for (const key of [
      "ArrowDown",
      "ArrowRight",
      "ArrowLeft",
      "ArrowLeft",
      "ArrowLeft",
      "End",
      "ArrowUp",
      "Home",
    ]) {
      await page.keyboard.press(key);
      walked.push(await focused());
    }
    expect(walked).toEqual([
      "Step 1 · request 1", // down
      "Thought, 3 parts", // right, into the open step
      "Step 1 · request 1", // left, to its parent
      "Step 1 · request 1", // left closes it
      "Turn 1", // left, to its parent
      "Answer",
      "Thought, 1 part",
      "Turn 1",
    ]);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => rows.first().getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("Turn 2");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => panel.getByRole("treeitem", { selected: true }).innerText())
      .toContain("Thought, 1 part");
    await page.keyboard.press("Tab");
    expect(await page.locator("[role=treeitem]:focus").count()).toBe(0);
  });

  test("draws at most some three hundred rows of a session with two thousand steps", async () => {
    const { page } = await openLog(real, longTurn(2000).events);
    const panel = await openInspector(page, "Trace");
    await panel.getByRole("heading", { name: "1 turn, 2,000 steps" }).waitFor();
    expect(await panel.getByRole("treeitem").count()).toBeLessThanOrEqual(303);
    await panel.getByRole("button", { name: "Show earlier turns" }).click();
    await expect.poll(() => panel.getByRole("treeitem").count()).toBeGreaterThan(303);
  });

  test("shows what is being generated, without a request for each delta", async () => {
    const { page } = await openPage(real, {
      script: [{ output: [think("A"), answer("Never said.")], faults: ["stall=after-event:8"] }],
    });
    await begin(page, "Think");
    const panel = await openInspector(page, "Trace");
    await panel
      .getByRole("treeitem")
      .filter({ hasText: /Thinks|Answers/ })
      .waitFor();
  });
});

describePage(real, "the plots in the inspector", () => {
  test("have labels that do not touch, at any number of steps and both widths, and the same figures as a table", async () => {
    for (const steps of [3, 60, 61, 700]) {
      const { page, context } = await openLog(real, longTurn(steps).events);
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 844 });
        const panel = await openInspector(page, "Plots");
        await panel.getByRole("img", { name: /^Seconds per step/ }).waitFor();
        for (const plot of await panel.locator(".plot svg").all()) {
          const texts = await plot.locator("text").evaluateAll(boxesOf);
          expect(touching(texts)).toEqual([]);
          const labels = await plot.locator("text.step").allTextContents();
          expect(labels.length).toBeLessThanOrEqual(7);
          expect([labels[0], labels.at(-1)]).toEqual(["1", String(steps)]);
        }
        expect(await panel.getByText("Each column is the mean of").count()).toBe(steps > 60 ? 2 : 0);
      }
      const panel = await openInspector(page, "Plots");
      await panel.getByRole("button", { name: "Figures: tokens per step" }).click();
      const rows = panel.getByRole("region", { name: "Figures: tokens per step" }).getByRole("row");
      expect((await rows.last().innerText()).split(/\s+/).at(-1)).toBe("40");
      expect(await rows.count()).toBeLessThanOrEqual(61);
      await context.close();
    }
  });
});

describePage(real, "the events and the block in the inspector", () => {
  test("earlier events come on demand, and an abandoned branch can be returned to", async () => {
    const { page } = await openLog(real, longTurn(100).events);
    const panel = await openInspector(page, "Events");
    await panel.getByRole("heading", { name: /events$/ }).waitFor();
    expect(await panel.getByRole("listitem").count()).toBe(300);
    await panel.getByRole("button", { name: /^Show earlier events/ }).click();
    await expect.poll(() => panel.getByRole("listitem").count()).toBeGreaterThan(500);

    const other = await openPage(real, {
      script: [{ output: [answer("One")] }, { output: [answer("Two")] }],
    });
    await begin(other.page, "First");
    await other.page.getByText("Worked for").waitFor();
    const handle = await other.remote.open({ id: /\/s\/([^/#]+)/.exec(other.page.url())?.[1] ?? "" });
    await handle.retry().result();
    await handle.close();
    const events = await openInspector(other.page, "Events");
    const left = events.getByRole("button", { name: /assistant_message on another branch/ });
    await left.click();
    await events.getByRole("button", { name: "Switch to this branch" }).click();
    await expect.poll(() => other.page.locator("main").innerText()).toContain("One");
    await expect.poll(() => other.page.locator("main").innerText()).not.toContain("Two");
  });

  test("raw events are behind one more click", async () => {
    const { page } = await twoTurns(real);
    const trace = await openInspector(page, "Trace");
    await trace.getByRole("treeitem").filter({ hasText: "Edit core" }).click();
    const block = await openInspector(page, "Block");
    await block.getByText("sent as call: ").waitFor();
    expect(await block.locator("pre").count()).toBe(0);
    await block.getByRole("button", { name: "JSON", exact: true }).click();
    await expect.poll(() => block.locator("pre").innerText()).toContain('"type": "permission_request"');
  });
});

describePage(real, "every tab of the inspector", () => {
  test("has no violation that axe knows, in both themes, 480 and 390 pixels wide, and targets of 24 and 44 pixels", async () => {
    const { page } = await twoTurns(real);
    await (await openInspector(page, "Trace")).getByRole("treeitem").nth(2).click();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        for (const tab of TABS) {
          const panel = await openInspector(page, tab);
          await ready(panel, tab);
          await unfold(panel, tab);
          expect([tab, colorScheme, width, await violationsIn(page, ".inspector")]).toEqual([
            tab,
            colorScheme,
            width,
            [],
          ]);
          expect([tab, width, await smallTargets(page, width === 390 ? 44 : 24)]).toEqual([tab, width, []]);
        }
      }
    }
  });

  test("is reached by arrows on the tabs", async () => {
    const { page } = await twoTurns(real);
    await openInspector(page, "Request");
    const shown = (): Promise<string> => page.getByRole("tab", { selected: true }).innerText();
    await page.getByRole("tab", { name: "Request" }).focus();
    const reached: string[] = [];
    for (const key of ["ArrowRight", "ArrowLeft", "ArrowLeft", "Home", "End", "ArrowRight"]) {
      await page.keyboard.press(key);
      reached.push(await shown());
    }
    expect(reached).toEqual(["Trace", "Request", "Block", "Request", "Block", "Request"]);
    expect(await page.locator('[role=tab][tabindex="0"]').count()).toBe(1);
  });
});

async function ready(panel: Locator, tab: TabName): Promise<void> {
  if (tab === "Request") await panel.getByText("exactly the").waitFor();
  else if (tab === "Block") await panel.getByText("Sent in").waitFor();
  else await panel.locator("h2").first().waitFor();
}

/** Shows what is behind a click. */
async function unfold(panel: Locator, tab: TabName): Promise<void> {
  if (tab === "Plots") await panel.getByRole("button", { name: "Figures: tokens per step" }).click();
  if (tab === "Events") await panel.getByRole("button").first().click();
  if (tab === "Request" || tab === "Block") {
    await panel.getByRole("button", { name: "JSON", exact: true }).click();
    await panel.locator("pre").waitFor();
  }
}

interface Box {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Where texts stand, and what they say. */
interface Measured {
  readonly textContent: string | null;
  getBoundingClientRect(): Omit<Box, "text">;
}

function boxesOf(elements: readonly Measured[]): Box[] {
  return elements.map((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { text: element.textContent ?? "", left, right, top, bottom };
  });
}

function touching(boxes: readonly Box[]): readonly string[] {
  return boxes.flatMap((a, at) =>
    boxes
      .slice(at + 1)
      .filter(
        (b) => a.left < b.right && b.left < a.right && a.top + 3 < b.bottom - 3 && b.top + 3 < a.bottom - 3,
      )
      .map((b) => `${a.text} and ${b.text}`),
  );
}

function isInside(track: Measured & { readonly children: Iterable<Measured> }): boolean {
  const outer = track.getBoundingClientRect();
  return [...track.children].every((bar) => {
    const { left, right } = bar.getBoundingClientRect();
    return left >= outer.left - 0.5 && right <= outer.right + 0.5;
  });
}

/** The targets of the inspector that are lower than so many pixels. A row of the table is the target of its button. */
function smallTargets(page: Page, least: number): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll(".inspector :is(button, select, [role=treeitem])")]
    .map((target) => ({ target, box: (target.closest("tr") ?? target).getBoundingClientRect() }))
    .filter(({ box }) => Math.round(box.height) < ${least} || Math.round(box.width) < 24)
    .map(({ target, box }) => target.textContent.slice(0, 40) + " " + box.width + "×" + box.height)`);
}
