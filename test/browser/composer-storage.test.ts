/** Drafts where the browser stores nothing, too little or nonsense, and in several tabs. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { say as answer } from "../contracts/session-fixture.ts";
import { caretOf, fieldOn, flawless, holdTurns, messagesIn } from "./composer-fixture.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();
const ANSWERS = ["One.", "Two.", "Three."].map((text) => ({ output: [answer(text)] }));

async function started(page: Page): Promise<void> {
  await begin(page, "First");
  await page.getByText("One.").waitFor();
}

describePage(real, "drafts", () => {
  for (const [what, script] of [
    [
      "blocks storage",
      "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } }); Object.defineProperty(window, 'indexedDB', { get() { throw new DOMException('no', 'SecurityError'); } });",
    ],
    [
      "has no storage",
      "Object.defineProperty(window, 'localStorage', { value: null }); Object.defineProperty(window, 'indexedDB', { value: undefined });",
    ],
  ] as const) {
    test(`in a browser that ${what} a draft lives as long as its tab, and a line says so`, async () => {
      const { page, context, remote, errors } = await openPage(real, { script: ANSWERS });
      await context.addInitScript(script);
      await page.reload();
      await started(page);
      const field = fieldOn(page);
      expect(await page.getByText("kept only while this tab is open").count()).toBe(0);
      await field.fill("Some words");
      await page
        .getByText(
          "Your draft is kept only while this tab is open: this browser does not let the page store anything.",
        )
        .waitFor();
      await flawless(page, ".dock");
      const address = page.url();
      await begin(page, "Another");
      await page.getByText("Two.").waitFor();
      await page.goBack();
      await page.goBack();
      await expect.poll(() => page.url()).toBe(address);
      await expect.poll(() => field.inputValue()).toBe("Some words");
      await field.focus();
      await page.keyboard.press("Enter");
      await page.getByText("Three.").waitFor();
      await expect.poll(() => field.inputValue()).toBe("");
      await expect.poll(() => page.getByText("kept only while this tab is open").count()).toBe(0);
      expect((await messagesIn(remote)).toSorted()).toEqual(["Another", "First", "Some words"]);
      expect(errors).toEqual([]);
    });
  }

  test("a full storage is told in a line, the words stay, and they are kept again when there is room", async () => {
    const { page, errors } = await openPage(real, { script: ANSWERS });
    await started(page);
    const field = fieldOn(page);
    await page.evaluate(`
      for (let size = 4_000_000, part = 0; size > 0; part += 1) {
        try {
          localStorage.setItem("other/" + part, "x".repeat(size));
        } catch {
          size = Math.floor(size / 2);
        }
      }
    `);
    await field.fill("Some words");
    await page
      .getByText("Your draft is kept only while this tab is open: the storage of this browser is full.")
      .waitFor();
    expect(await field.inputValue()).toBe("Some words");
    await page.evaluate(
      `for (const key of Object.keys(localStorage)) if (key.startsWith("other/")) localStorage.removeItem(key)`,
    );
    await field.press("End");
    await page.keyboard.type("!");
    await expect.poll(() => page.getByText("kept only while").count()).toBe(0);
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("Some words!");
    expect(errors).toEqual([]);
  });

  test("of a damaged draft the words are saved if they can be, and a line says what happened", async () => {
    const { page, errors } = await openPage(real, { script: ANSWERS });
    await started(page);
    const field = fieldOn(page);
    await field.fill('Words with "quotes"\nand lines');
    const damage = (how: string): Promise<unknown> =>
      page.evaluate(`
        const key = Object.keys(localStorage).find((one) => one.startsWith("throughline/draft/"));
        const kept = localStorage.getItem(key);
        localStorage.setItem(key, ${how});
      `);
    await damage(`kept.slice(0, kept.indexOf('"caret"') - 4)`);
    await page.reload();
    await page.getByText("Only the words of your draft could be read again.").waitFor();
    await expect.poll(() => field.inputValue()).toContain('Words with "quotes"\nand lin');
    await damage(`"\\u0000{["`);
    await page.reload();
    await page.getByText("What this browser kept of your draft could not be read.").waitFor();
    await field.fill("New words");
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("New words");
    expect(errors).toEqual([]);
  });

  test("two tabs show what was written last, and none of them writes by itself", async () => {
    const opened = await openPage(real, { script: ANSWERS });
    const { page } = opened;
    await started(page);
    const other = await opened.tab();
    await fieldOn(other).waitFor();
    await other.evaluate(`
      window.writes = 0;
      const { setItem } = Storage.prototype;
      Storage.prototype.setItem = function count(...given) {
        window.writes += 1;
        setItem.apply(this, given);
      };
    `);
    await fieldOn(page).fill("From the first tab");
    await expect.poll(() => fieldOn(other).inputValue()).toBe("From the first tab");
    expect(await caretOf(fieldOn(other))).toEqual([18, 18]);
    expect(await other.evaluate("window.writes")).toBe(0);
    await fieldOn(other).fill("From the second tab");
    await expect.poll(() => fieldOn(page).inputValue()).toBe("From the second tab");
    await fieldOn(page).focus();
    await page.keyboard.press("Enter");
    await other.getByText("Two.").waitFor();
    await expect.poll(() => fieldOn(other).inputValue()).toBe("");
    await expect.poll(() => fieldOn(page).inputValue()).toBe("");
  });

  test("a message whose tab was closed while it was on its way is sent by another tab, once", async () => {
    const opened = await openPage(real, { script: ANSWERS });
    const { page, remote } = opened;
    await started(page);
    const other = await opened.tab();
    await fieldOn(other).waitFor();
    const held = await holdTurns(page);
    await fieldOn(page).fill("On its way");
    await page.keyboard.press("Enter");
    await expect.poll(held.seen).toBe(1);
    await expect.poll(() => fieldOn(other).inputValue()).toBe("On its way");
    await page.close();
    await other.getByText("Two.").waitFor();
    await expect.poll(() => fieldOn(other).inputValue()).toBe("");
    expect(await messagesIn(remote)).toEqual(["First", "On its way"]);
  });

  test("nothing is left in the browser when a message was sent or its session removed", async () => {
    const { page } = await openPage(real, { script: ANSWERS });
    await started(page);
    const keys = (): Promise<number> =>
      page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith("throughline/draft/")).length`);
    expect(await keys()).toBe(0);
    await fieldOn(page).fill("Never sent");
    expect(await keys()).toBe(1);
    await page.getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe("/");
    await expect.poll(keys).toBe(0);
  });
});
