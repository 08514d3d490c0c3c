/** What a person types stays in the field until the server has acknowledged it, and survives a reload. */

import { expect, test } from "vitest";

import { fileStore } from "../../src/runtime/log/index.ts";
import { say as answer } from "../contracts/session-fixture.ts";
import { scriptedAgent } from "../server/server-fixture.ts";
import { caretOf, fieldOn, flawless, holdTurns, messagesIn, queueRow, select } from "./composer-fixture.ts";
import { begin, describePage, openPage, realPage, temporaryFolder } from "./page-fixture.ts";

const real = realPage();
const ANSWERS = ["One.", "Two.", "Three.", "Four."].map((text) => ({ output: [answer(text)] }));

describePage(real, "the composer", () => {
  test("clears the field only when the server has acknowledged the message", async () => {
    const { page, remote } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    const held = await holdTurns(page);
    const field = fieldOn(page);
    await field.fill("Second");
    await page.keyboard.press("Enter");
    await expect.poll(held.seen).toBe(1);
    expect(await field.inputValue()).toBe("Second");
    await page.getByText("Sending…").waitFor();
    await page.keyboard.press("Enter"); // once more does not send it twice
    held.release();
    await page.getByText("Two.").waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    expect([held.seen(), await messagesIn(remote)]).toEqual([1, ["First", "Second"]]);
  });

  test("keeps words that are typed while a message is on its way, and sends them as a message of their own", async () => {
    const { page, remote } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    const held = await holdTurns(page);
    const field = fieldOn(page);
    await field.fill("Second");
    await page.keyboard.press("Enter");
    await expect.poll(held.seen).toBe(1);
    await page.keyboard.type(" and third");
    await page.keyboard.press("Enter");
    await queueRow(page, "Second").waitFor();
    await expect.poll(() => field.inputValue()).toBe(" and third");
    await page.keyboard.type(" a rest");
    held.release();
    await page.getByText("Three.").waitFor();
    await expect.poll(() => field.inputValue()).toBe(" a rest");
    expect(await messagesIn(remote)).toEqual(["First", "Second", "and third"]);
  });

  test("keeps words, caret and selection of every session over a reload and another session", async () => {
    const { page } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    const address = page.url();
    const field = fieldOn(page);
    await field.fill("some words\nthat are not sent");
    await select(field, 5, 10);
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("some words\nthat are not sent");
    expect(await caretOf(field)).toEqual([5, 10]);
    await begin(page, "Another session");
    await page.getByText("Two.").waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    await page.goto(address);
    await expect.poll(() => field.inputValue()).toBe("some words\nthat are not sent");
  });

  test("leaves words and caret in place when the server refuses the message, also after a reload", async () => {
    const { page, errors } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    await page.route("**/turns", (route) =>
      route.fulfill({
        status: 429,
        contentType: "application/json",
        body: JSON.stringify({ error: { code: "too_many_requests", message: "too many at once" } }),
      }),
    );
    const field = fieldOn(page);
    await field.fill("Refused words");
    await select(field, 3);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "too many at once" }).waitFor();
    expect([await field.inputValue(), await caretOf(field)]).toEqual(["Refused words", [3, 3]]);
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("Refused words");
    await page.unroute("**/turns");
    await page.keyboard.press("Enter");
    await page.getByText("Two.").waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    expect(errors).toEqual([]);
  });

  test("sends a message whose answer was lost again under the same turn, after a reload too, and it runs once", async () => {
    const { page, remote } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    const turns: unknown[] = [];
    await page.route("**/turns", async (route) => {
      turns.push((route.request().postDataJSON() as { readonly turn: string }).turn);
      await route.fetch().catch(() => undefined); // the server has it
      await route.abort("connectionreset").catch(() => undefined); // the page may be gone by now
    });
    await fieldOn(page).fill("Only once");
    await page.keyboard.press("Enter");
    await page.getByText("Two.").waitFor();
    expect(await fieldOn(page).inputValue()).toBe("Only once");
    await page.unroute("**/turns");
    await page.reload();
    await expect.poll(() => fieldOn(page).inputValue()).toBe("");
    expect(new Set(turns).size).toBe(1);
    expect(await messagesIn(remote)).toEqual(["First", "Only once"]);
  });

  test("grows to eight lines and then scrolls, and Shift+Enter begins a line", async () => {
    const { page } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    const field = fieldOn(page);
    const height = async (): Promise<number> => (await field.boundingBox())?.height ?? 0;
    expect(await height()).toBe(40);
    await field.focus();
    await page.keyboard.type("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    expect(await field.inputValue()).toBe("one\ntwo");
    expect(await height()).toBe(64);
    await field.fill(Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n"));
    expect(await height()).toBe(8 * 24 + 16);
    await field.fill("");
    expect(await height()).toBe(40);
  });

  test("an Enter of an input method does not send", async () => {
    const { page, remote } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    const field = fieldOn(page);
    await field.focus();
    const input = await page.context().newCDPSession(page);
    await input.send("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
    await field.dispatchEvent("keydown", { key: "Enter", isComposing: true });
    await input.send("Input.insertText", { text: "日本" });
    await expect.poll(() => field.inputValue()).toBe("日本");
    expect(await messagesIn(remote)).toEqual(["First"]);
    await page.keyboard.press("Enter");
    await page.getByText("Two.").waitFor();
    expect(await messagesIn(remote)).toEqual(["First", "日本"]);
  });

  test("a long text is kept with every key, and no key takes long", async () => {
    const { page } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    const field = fieldOn(page);
    await field.fill("word ".repeat(20_000));
    const times = await page.evaluate<readonly number[]>(`
      const box = document.querySelector("textarea[aria-label='Your message']");
      Array.from({ length: 11 }, () => {
        box.value += "x";
        const before = performance.now();
        box.dispatchEvent(new InputEvent("input", { bubbles: true }));
        return performance.now() - before;
      });
    `);
    expect(times.toSorted((a, b) => a - b)[5]).toBeLessThan(50);
    await page.reload();
    await expect.poll(async () => (await field.inputValue()).length).toBe(100_011);
    await field.fill("word ".repeat(200_000));
    await page.reload();
    await expect.poll(async () => (await field.inputValue()).length).toBe(1_000_000);
  });

  test("a session that another process writes says that it can only be read, and its draft stays", async () => {
    const folder = temporaryFolder();
    const other = await scriptedAgent({ script: ANSWERS, store: fileStore(folder) });
    const elsewhere = await other.agent.open({ id: "s1", store: other.store });
    await elsewhere.send("First").result();
    await elsewhere.close();
    // A copy of a store is not known to be on the same folder, so only the lock decides, as between processes.
    const { page, server } = await openPage(real, { store: { ...fileStore(folder) }, script: ANSWERS });
    await page.goto(`${server.url}/s/s1`);
    await page.getByText("One.").waitFor();
    const field = fieldOn(page);
    await field.fill("Some words");
    const holder = await other.agent.open({ id: "s1", store: other.store });
    await page.getByText("This session can only be read here").waitFor();
    expect([await field.inputValue(), await field.isEditable()]).toEqual(["Some words", false]);
    await flawless(page, ".dock");
    await holder.close();
    await expect.poll(() => field.isEditable()).toBe(true);
    await field.press("Enter");
    await expect.poll(() => field.inputValue()).toBe("");
  });

  test("has no violation of accessibility, idle and with words", async () => {
    const { page } = await openPage(real, { script: ANSWERS });
    await begin(page, "First");
    await page.getByText("One.").waitFor();
    await flawless(page, ".dock");
    await fieldOn(page).fill("Words that are not sent");
    await flawless(page, ".dock");
  });
});
