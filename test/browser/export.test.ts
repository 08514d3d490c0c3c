/** The page's export and its choice of effort. */

import { readFileSync } from "node:fs";

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { asEffort } from "../../src/base/events/index.ts";
import { memoryStore, openai } from "../../src/index.ts";
import { sessionDownload } from "../../src/interface/cli/export/session-download.ts";
import { parseBundle } from "../../src/runtime/log/index.ts";
import { KEY, say as answer, think } from "../contracts/session-fixture.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();

async function download(page: Page): Promise<{ readonly name: string; readonly text: string }> {
  const coming = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  const file = await coming;
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
}

describePage(real, "the page", () => {
  test("a session can be downloaded in each format, with and without thoughts", async () => {
    const store = memoryStore();
    const { page, errors, remote } = await openPage(real, {
      store,
      server: { exportSession: sessionDownload() },
      script: [{ output: [think("Counting the stars"), answer("There are **many**.")] }],
    });
    await begin(page, "How many?");
    await page.locator(".turn-end").waitFor();
    const open = async (): Promise<void> => {
      await page.getByRole("button", { name: /^More/ }).click();
      await page.getByRole("menuitem", { name: "Export" }).click();
    };
    await open();
    const panel = page.getByRole("group", { name: "Export this session" });
    const format = panel.getByLabel("Format");
    await expect.poll(() => format.evaluate((box) => box.ownerDocument.activeElement === box)).toBe(true);
    // A user who has moved to the next field stays there, whatever happens in the session.
    await page.keyboard.press("Tab");
    const [session] = await remote.list();
    await (await remote.open({ id: session?.id ?? "" })).rename("Stars");
    await page.getByRole("heading", { name: "Stars" }).waitFor();
    expect(
      await panel.getByLabel("include thoughts").evaluate((box) => box.ownerDocument.activeElement === box),
    ).toBe(true);

    const markdown = await download(page);
    expect(markdown.name).toMatch(/\.md$/);
    expect(markdown.text).toContain("There are **many**.");
    expect(markdown.text).toContain("Counting the stars");
    await open();
    await panel.getByLabel("Format").selectOption("html");
    await panel.getByLabel("include thoughts").uncheck();
    const html = await download(page);
    expect([html.name.endsWith(".html"), html.text.includes("many"), html.text.includes("Counting")]).toEqual(
      [true, true, false],
    );
    await open();
    await panel.getByLabel("Format").selectOption("jsonl");
    const whole = await download(page);
    expect(parseBundle(Buffer.from(whole.text)).events.at(-1)?.type).toBe("title");
    await expect.poll(() => panel.count()).toBe(0); // the panel has closed again
    expect(errors).toEqual([]);
  });

  test("an effort of none is shown as the off that can be chosen", async () => {
    let baseUrl = "";
    const { page, emulator } = await openPage(real, {
      script: [{ output: [answer("Hi")] }],
      modelFrom: (name) =>
        openai("emu-reasoner", { apiKey: KEY, baseUrl, effort: asEffort(name.split(":")[1] ?? "low") }),
      server: { info: { models: ["openai/emu-reasoner:none"] } },
    });
    baseUrl = emulator.baseUrl;
    await begin(page, "Hello");
    await page.locator(".turn-end").waitFor();
    const chip = page.getByRole("button", { name: /^Model/ });
    const effort = page.getByLabel("Effort", { exact: true });
    await chip.click();
    expect(await effort.inputValue()).toBe("");
    await effort.selectOption("off");
    await expect.poll(() => chip.innerText()).toMatch(/emu-reasoner\s+off/);
    await chip.click();
    expect(await effort.locator("option:checked").innerText()).toBe("off (no reasoning)");
    await effort.selectOption("high");
    await expect.poll(() => chip.innerText()).toMatch(/emu-reasoner\s+high/);
    await chip.click();
    await page.getByLabel("Model", { exact: true }).selectOption("openai/emu-reasoner:none");
    await page.getByRole("button", { name: /^Switch to/ }).click();
    await expect.poll(() => chip.innerText()).toMatch(/emu-reasoner\s+off/);
  });
});
