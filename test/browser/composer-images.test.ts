/** Images that are attached, pasted and dropped: shown, kept over a reload, sent, and refused if no model takes them. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { call, say as answer } from "../contracts/session-fixture.ts";
import { waitingTool } from "../contracts/steer-fixture.ts";
import { fieldOn, flawless, messagesIn, queueRow } from "./composer-fixture.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();
/** One grey pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const ANSWERS = ["One.", "Two.", "Three."].map((text) => ({ output: [answer(text)] }));

async function started(page: Page): Promise<void> {
  await begin(page, "First");
  await page.getByText("One.").waitFor();
}

function images(page: Page) {
  return page.getByRole("list", { name: "Attached images" }).getByRole("img");
}

async function choose(page: Page, name: string, buffer: Buffer): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach an image" }).click();
  await (await chooser).setFiles({ name, mimeType: "application/octet-stream", buffer });
}

/** Gives the page a file as a clipboard or a drag would. */
async function give(page: Page, how: "paste" | "drop", name: string): Promise<void> {
  await fieldOn(page).focus();
  await page.evaluate(`
    const bytes = Uint8Array.from(atob(${JSON.stringify(PNG.toString("base64"))}), (one) => one.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], ${JSON.stringify(name)}, { type: "image/png" }));
    ${
      how === "paste"
        ? `document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))`
        : `document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))`
    };
  `);
}

describePage(real, "images", () => {
  test("are chosen, pasted and dropped, survive a reload, can be removed, and are sent with the words", async () => {
    const { page, remote, errors } = await openPage(real, { script: ANSWERS });
    await started(page);
    await choose(page, "chosen.png", PNG);
    await images(page).nth(0).waitFor();
    await give(page, "paste", "pasted.png");
    await images(page).nth(1).waitFor();
    await give(page, "drop", "dropped.png");
    await images(page).nth(2).waitFor();
    await fieldOn(page).fill("What is this?");
    await flawless(page, ".dock");
    await page.reload();
    await images(page).nth(2).waitFor();
    await expect
      .poll(() =>
        page
          .locator(".draft-images img")
          .evaluateAll((all) =>
            all.every((one) => (one as unknown as { naturalWidth: number }).naturalWidth === 1),
          ),
      )
      .toBe(true);
    await page.getByRole("button", { name: "Remove pasted.png" }).click();
    await expect.poll(() => images(page).count()).toBe(2);
    await fieldOn(page).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Two.").waitFor();
    await expect.poll(() => images(page).count()).toBe(0);
    expect(await messagesIn(remote)).toEqual(["First", "What is this? (image) (image)"]);
    const left = await page.evaluate(`new Promise((resolve) => {
      const opening = indexedDB.open("throughline");
      opening.onsuccess = () => {
        const all = opening.result.transaction("images").objectStore("images").count();
        all.onsuccess = () => resolve(all.result);
      };
    })`);
    expect(left).toBe(0);
    expect(errors).toEqual([]);
  });

  test("a file that is no image, or too large, is refused in a plain line, and the draft stays", async () => {
    const { page } = await openPage(real, { script: ANSWERS });
    await started(page);
    await fieldOn(page).fill("Look at this");
    await choose(page, "text.png", Buffer.from("not an image"));
    await page
      .getByText("“text.png” is not a PNG, JPEG, WebP or GIF image, so it was not attached.")
      .waitFor();
    await choose(page, "large.png", Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]));
    await page
      .getByText("“large.png” has 5 MB and was not attached: an image may have 3.7 MB at most.")
      .waitFor();
    expect([await images(page).count(), await fieldOn(page).inputValue()]).toEqual([0, "Look at this"]);
    await choose(page, "fine.gif", Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "base64"));
    await images(page).first().waitFor();
    await expect.poll(() => page.getByText("was not attached").count()).toBe(0);
  });

  test("stay when the server refuses the message or no browser storage keeps them", async () => {
    const { page, context, remote } = await openPage(real, { script: ANSWERS });
    await context.addInitScript(
      "Object.defineProperty(window, 'indexedDB', { get() { throw new DOMException('no', 'SecurityError'); } });",
    );
    await page.reload();
    await started(page);
    await give(page, "paste", "pasted.png");
    await page.getByText("The image is kept only while this tab is open").waitFor();
    await page.route("**/turns", (route) =>
      route.fulfill({
        status: 413,
        contentType: "application/json",
        body: JSON.stringify({ error: { code: "body_too_large", message: "the message is too large" } }),
      }),
    );
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "the message is too large" }).waitFor();
    expect(await images(page).count()).toBe(1);
    await page.unroute("**/turns");
    await page.keyboard.press("Enter");
    await page.getByText("Two.").waitFor();
    await expect.poll(() => images(page).count()).toBe(0);
    expect(await messagesIn(remote)).toEqual(["First", "(image)"]);
  });

  test("of a queued message come back with it", async () => {
    const wait = waitingTool();
    const { page } = await openPage(real, {
      script: [{ output: [call("wait")] }, { output: [answer("Done.")] }],
      tools: [wait.tool],
    });
    await begin(page, "First");
    await wait.started;
    await give(page, "paste", "pasted.png");
    await images(page).first().waitFor();
    await page.keyboard.press("Enter");
    await queueRow(page, "1 image").waitFor();
    await expect.poll(() => images(page).count()).toBe(0);
    await queueRow(page, "1 image").getByRole("button", { name: "Take back" }).click();
    await images(page).first().waitFor();
    wait.finish();
    await page.getByText("Done.").waitFor();
    expect(await images(page).count()).toBe(1);
  });
});
