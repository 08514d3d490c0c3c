/** The frame of the page: sessions, header, menus, keys, and how it fits the window. */

import { EventEmitter, once } from "node:events";

import { expect, test } from "vitest";

import { say as answer, think } from "../contracts/session-fixture.ts";
import { accessible } from "./accessible.ts";
import { begin, describePage, openPage, realPage, say } from "./page-fixture.ts";

const real = realPage();

describePage(real, "the frame", () => {
  test("the list goes on past a hundred sessions, and keeps joined emoji whole", async () => {
    const { page, agent, store, remote } = await openPage(real);
    for (let at = 0; at < 105; at += 1) {
      const session = await agent.open({ id: `s${at}`, store });
      await session.rename(at === 104 ? "Family 👩‍👩‍👧‍👦 ".repeat(9) : `Session ${at}`);
      await session.close();
    }
    expect(await remote.list({ limit: 200 })).toHaveLength(105);
    await page.reload();
    await page.locator(".session").first().waitFor();
    await expect.poll(() => page.locator(".session").count()).toBe(100);
    // Also while the list is being loaded again, as it is when a turn has ended or the person comes back to the tab.
    const again = page.waitForRequest("**/api/sessions?*");
    const held = new EventEmitter();
    const released = once(held, "released");
    await page.route("**/api/sessions?*", async (route) => {
      await released;
      await route.continue();
    });
    await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
    await again;
    await page.getByRole("button", { name: "Older sessions (5)" }).click();
    held.emit("released");
    await expect.poll(() => page.locator(".session").count()).toBe(105);
    await page.getByRole("searchbox").fill("Session 33");
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    await accessible(page);
    await page.getByRole("searchbox").fill("Family");
    await page.locator(".session").click();
    const title = await page.getByRole("heading", { level: 1 }).innerText();
    expect(title.replaceAll("👩‍👩‍👧‍👦", "")).not.toMatch(/[\u{1F467}-\u{1F469}\u200D]/u);
  });

  test("? opens the keys, / the search, I the inspector, and none of them while somebody types", async () => {
    const { page } = await openPage(real, { script: [{ output: [think("A"), answer("Done")] }] });
    await begin(page, "Hello");
    await page.locator(".text").getByText("Done").waitFor();
    const field = page.getByRole("textbox", { name: "Your message" });
    await field.pressSequentially("?/i");
    expect(await field.inputValue()).toBe("?/i");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.locator(".scroller").focus();
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys" });
    for (const name of ["Write", "Read", "Inspect"]) await keys.getByRole("heading", { name }).waitFor();
    await accessible(page);
    await page.keyboard.press("Escape");
    await expect.poll(() => keys.count()).toBe(0);
    await page.locator(".scroller").focus();
    await page.keyboard.press("i");
    await page.getByRole("tab", { name: "Request" }).waitFor();
    await page.locator(".scroller").focus();
    await page.keyboard.press("/");
    await expect
      .poll(() => page.getByRole("searchbox").evaluate((box) => box.ownerDocument.activeElement === box))
      .toBe(true);
    await page.reload();
    await page.getByRole("tab", { name: "Request" }).waitFor(); // the open inspector is remembered
  });

  test("the header is one row, and everything of it can be reached by keyboard", async () => {
    const { page } = await openPage(real, { script: [{ output: [think("A"), answer("Done")] }] });
    await begin(page, "Hello");
    await page.locator(".text").getByText("Done").waitFor();
    const box = await page.locator(".head").boundingBox();
    expect(box?.height).toBeLessThanOrEqual(53);
    await page.getByRole("button", { name: /^More/ }).focus();
    await page.keyboard.press("Enter");
    const menu = page.getByRole("menu");
    expect(await menu.getByRole("menuitem").allInnerTexts()).toEqual([
      "Model and effort",
      "Rename",
      "Undo",
      "Fork",
      "Compact",
      "Export",
      "MCP servers",
      "Inspector",
      "Delete",
    ]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Title" }).fill("Another name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Another name" }).waitFor();
  });

  test("on a phone the header hides while reading on, and comes back", async () => {
    const long = Array.from({ length: 60 }, (_, at) => `Paragraph ${at}.`).join("\n\n");
    const { page } = await openPage(real, { script: [{ output: [answer(long)] }] });
    await page.setViewportSize({ width: 390, height: 700 });
    await say(page, "Hello");
    await page.locator(".turn-end").waitFor();
    const head = page.locator(".head");
    await page.locator(".scroller").hover();
    await page.mouse.wheel(0, -3000);
    await expect.poll(() => page.locator(".scroller").evaluate((box) => box.scrollTop)).toBe(0);
    await page.mouse.wheel(0, 200);
    await expect.poll(() => head.isVisible()).toBe(false);
    await page.mouse.wheel(0, -100);
    await expect.poll(() => head.isVisible()).toBe(true);
    await page.getByRole("button", { name: "Show sessions" }).click();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    await accessible(page);
    await page.locator(".session").click();
    await expect.poll(() => page.getByRole("navigation", { name: "Sessions" }).isVisible()).toBe(false);
  });
});
