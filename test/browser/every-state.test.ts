/** Every state of the page, in both themes, wide and on a phone: no violation that axe knows, and targets that a finger hits. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { builtinTools } from "../../src/runtime/tools/index.ts";
import { call, say as answer, think } from "../contracts/session-fixture.ts";
import { accessible } from "./accessible.ts";
import { begin, describePage, openPage, realPage, say, temporaryFolder } from "./page-fixture.ts";

const real = realPage();

const LONG = [
  "One **word** and `code`, and [a link](https://example.test/).",
  "## A heading\n\n> A quote\n\n- [x] done\n- [ ] to do",
  "| name | size |\n|---|---:|\n| a | 12 |",
  '```ts\nconst text = "coloured"; // and a comment\n```',
].join("\n\n");

const LOOKS = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);

async function inEveryLook(page: Page, state: string): Promise<void> {
  for (const { colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 800 });
    await accessible(page).catch((error: unknown) => {
      throw new Error(`${state}, ${colorScheme}, ${width} pixels`, { cause: error });
    });
    const small = await page.evaluate(
      `[...document.querySelectorAll("button, input, select, textarea, summary, a.session")]
        .filter((one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        .map((one) => (one.type === "checkbox" ? one.closest("label") ?? one : one)) // a click on the words counts
        .map((one) => [one.getBoundingClientRect(), one.outerHTML.slice(0, 120)])
        .filter(([box]) => box.width > 0 && (box.width < 24 || box.height < 24))
        .map(([box, html]) => Math.round(box.width) + "×" + Math.round(box.height) + " " + html)`,
    );
    expect({ state, width, small }).toEqual({ state, width, small: [] });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

describePage(real, "every state of the page", () => {
  test("is accessible while reading, in menus and sheets, with versions, and after a switch of model", async () => {
    const { page } = await openPage(real, {
      script: [
        { output: [think("A"), call("run_command", { command: "echo no; exit 3" })] },
        { output: [think("B"), answer(LONG)] },
        { output: [think("C"), answer("Another answer.")] },
      ],
      tools: builtinTools({ cwd: temporaryFolder() }),
      permissions: "auto",
    });
    await inEveryLook(page, "first start");
    await begin(page, "Look at `this`");
    await page.locator(".tone-string").first().waitFor();
    await page.locator(".row.reasoning summary").first().click();
    await page.getByText("Next request").waitFor();
    await inEveryLook(page, "reading");
    await page.getByRole("button", { name: "Edit this message" }).click();
    await inEveryLook(page, "editing");
    await page.getByRole("textbox", { name: "Edited message" }).fill("Look again");
    await page.getByRole("button", { name: "Send as version 2" }).click();
    await page.getByText("Another answer.").waitFor();
    await page.getByRole("button", { name: "2/2, show all versions of the message" }).click();
    await inEveryLook(page, "versions");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^More/ }).click();
    await inEveryLook(page, "menu");
    for (const name of ["Rename", "Export", "MCP servers", "Delete"]) {
      if (name !== "Rename") await page.getByRole("button", { name: /^More/ }).click();
      await page.getByRole("menuitem", { name }).click();
      await page.getByRole("dialog").waitFor();
      await inEveryLook(page, name);
      await page.keyboard.press("Escape");
      await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    }
    await page.locator(".scroller").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await inEveryLook(page, "help");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Usage/ }).click();
    await inEveryLook(page, "usage");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.getByLabel("Model", { exact: true }).selectOption("test/emu-reasoner-mini");
    await page.getByRole("button", { name: /^Switch to/ }).waitFor();
    await inEveryLook(page, "switch");
    await page.getByRole("button", { name: /^Switch to/ }).click();
    await page.locator(".is-unsent").first().waitFor();
    await page.locator(".is-unsent summary").first().click();
    await inEveryLook(page, "unsent");
    // The first undo shows version 1 again, the second takes that away too.
    for (const shown of [
      page.getByText("1/2"),
      page.getByRole("button", { name: "Bring it back" }).first(),
    ]) {
      await page.getByRole("button", { name: /^More/ }).click();
      await page.getByRole("menuitem", { name: "Undo" }).click();
      await shown.waitFor();
    }
    await inEveryLook(page, "undone");
  });

  test("is accessible while a turn thinks, asks, fails and was stopped", async () => {
    const opened = await openPage(real, {
      script: [
        { output: [call("run_command", { command: "echo yes" })] },
        {
          output: [think("Thinking about it at some length"), answer("Never.")],
          faults: ["stall=after-event:5"],
        },
      ],
      tools: builtinTools({ cwd: temporaryFolder() }),
      permissions: "ask",
    });
    const { page } = opened;
    await begin(page, "Run it");
    await page.getByRole("group", { name: "Permission for run_command" }).waitFor();
    await inEveryLook(page, "permission");
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.locator(".row.reasoning.is-live").waitFor();
    await say(page, "And then this");
    await page.getByText("Take back").waitFor();
    await page.locator(".row.reasoning.is-live summary").click();
    await inEveryLook(page, "thinking");
    await page.getByRole("button", { name: "Take back" }).click();
    const field = page.getByRole("textbox", { name: "Your message" });
    await expect.poll(() => field.inputValue()).toBe("And then this");
    await field.fill("");
    await page.getByRole("button", { name: /^Stop/ }).click();
    await page.getByText(/^Stopped by you/).waitFor();
    await inEveryLook(page, "stopped");
    opened.emulator.addFaults({ type: "http", status: 403, message: "no" });
    await say(page, "Fail");
    await page.locator(".ending.bad").waitFor();
    await inEveryLook(page, "failed");
  });
});
