/** The end of the conversation is followed while the reader wants it, and never otherwise. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { emulatorOf, newPlace } from "../cli/harness.ts";
import { say as answer, think } from "../contracts/session-fixture.ts";
import { TOKEN } from "../tui/server-harness.ts";
import { kill, newContext, serveWithPage } from "./composer-fixture.ts";
import { gatedStream } from "./gated-stream.ts";
import { begin, describePage, openPage, realPage, say } from "./page-fixture.ts";

const real = realPage();
const paragraphs = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `Paragraph ${at} of a long answer that fills the screen line by line.`,
  ).join("\n\n");

const words = (text: string): ReadonlySet<string> => new Set(text.match(/[a-z]{4,}/gi) ?? []);
const scroller = (page: Page) => page.locator(".scroller");
const fromEnd = (page: Page): Promise<number> =>
  scroller(page).evaluate((box) => Math.round(box.scrollHeight - box.scrollTop - box.clientHeight));
const top = (page: Page): Promise<number> => scroller(page).evaluate((box) => Math.round(box.scrollTop));
const jump = (page: Page) => page.getByRole("button", { name: /Jump to latest/ });

/** A page on which half of a long answer has arrived. */
async function halfway(): Promise<{ readonly page: Page; readonly more: () => Promise<void> }> {
  const stream = gatedStream();
  const { page } = await openPage(real, {
    script: [{ output: [{ message: paragraphs(120) }] }],
    fetch: stream.fetch,
  });
  await begin(page, "Tell me all of it");
  let shown = 0;
  const more = async (): Promise<void> => {
    shown += 400;
    stream.release(400);
    await expect
      .poll(async () => (await page.locator(".text").innerText()).length)
      .toBeGreaterThan(shown * 3);
  };
  await more();
  await expect.poll(() => fromEnd(page)).toBeLessThan(4);
  return { page, more };
}

describePage(real, "the end of the conversation", () => {
  test("is followed while an answer arrives, and a view that was scrolled up by 60 pixels stays there", async () => {
    const { page, more } = await halfway();
    await more();
    await expect.poll(() => fromEnd(page)).toBeLessThan(4);
    expect(await jump(page).count()).toBe(0);
    await scroller(page).hover();
    await page.mouse.wheel(0, -60);
    await jump(page).waitFor();
    const before = await top(page);
    await more();
    expect(await top(page)).toBe(before);
    await jump(page).click();
    await expect.poll(() => fromEnd(page)).toBeLessThan(4);
    await more();
    await expect.poll(() => fromEnd(page)).toBeLessThan(4);
    expect(await jump(page).count()).toBe(0);
  });

  test("is left by Page Up and Home, and found again by End and by scrolling down to it", async () => {
    const { page, more } = await halfway();
    for (const key of ["PageUp", "Home"]) {
      await scroller(page).focus();
      await page.keyboard.press(key);
      await jump(page).waitFor();
      await more();
      expect(await fromEnd(page)).toBeGreaterThan(100);
      await page.keyboard.press("End");
      await expect.poll(() => jump(page).count()).toBe(0);
      await expect.poll(() => fromEnd(page)).toBeLessThan(4);
    }
    await scroller(page).hover();
    await page.mouse.wheel(0, -300);
    await jump(page).waitFor();
    await expect.poll(() => fromEnd(page)).toBeGreaterThan(100); // the browser tells of the wheel before it scrolls
    await page.mouse.wheel(0, 5000);
    await expect.poll(() => jump(page).count()).toBe(0);
    await more();
    await expect.poll(() => fromEnd(page)).toBeLessThan(4);
  });

  test("does not take a selection in a finished paragraph away", async () => {
    const { page, more } = await halfway();
    const select = `(() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelectorAll(".text p")[2]);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    })()`;
    await page.evaluate(select);
    const chosen = (): Promise<unknown> => page.evaluate("getSelection().toString()");
    const before = await chosen();
    expect(before).toMatch(/^Paragraph 2 of/);
    const place = await top(page);
    await more();
    await more();
    expect(await chosen()).toBe(before);
    expect(await top(page)).toBe(place); // who selects wants to stay
  });

  test("is where a session of two thousand blocks opens, and every block is drawn", async () => {
    const turn = Array.from({ length: 20 }, (_, at) => [
      think(`Thought ${at}`),
      answer(`Part ${at}.`),
    ]).flat();
    const { page, agent, store, server, remote, errors } = await openPage(real, {
      script: Array.from({ length: 48 }, () => ({ output: turn })),
    });
    const session = await agent.open({ id: "long", store });
    for (let at = 0; at < 48; at += 1) await session.send(`Message ${at}`).result();
    await session.close();
    await page.goto(`${server.url}/s/long`);
    await page.getByText("Message 47").first().waitFor();
    expect(await fromEnd(page)).toBeLessThan(4);
    await expect.poll(() => page.locator(".turn").count()).toBe(48);
    expect(await page.locator("[data-block]").count()).toBeGreaterThanOrEqual(2000);
    expect(await fromEnd(page)).toBeLessThan(4);
    const events = (await remote.open({ id: "long", mode: "read" })).events();
    let seq = 0;
    for await (const event of events) if (event.type === "user_message" && seq === 0) ({ seq } = event);
    await page.goto(`${server.url}/s/long#${seq}`);
    await page.reload();
    await page.locator(".selected").waitFor();
    // It has no text until it has come into view.
    await expect.poll(() => page.locator(".selected").innerText()).toContain("Message 0");
    expect(errors).toEqual([]);
  });

  test("of an answer whose server was killed is still there after a reload, and nothing seems to go on", async () => {
    const place = newPlace();
    const thought = { reasoning: ["**Reading the log**\n\nIt is longer than it seems."] };
    const { env } = await emulatorOf({
      steps: [
        { output: [thought, answer("The second step fails. ".repeat(60))], faults: ["stall=after-event:60"] },
        { output: [answer("And so on.")] },
      ],
    });
    const server = await serveWithPage(real, place, env);
    const page = await (await newContext(real)).newPage();
    await page.goto(server.link);
    await begin(page, "Why does the build fail?");
    await page.getByText("The second").waitFor();
    await page.locator(".row.reasoning summary").first().click();
    await page.getByText("It is longer than it seems.").waitFor();
    const seen = await page.locator(".turn").innerText();
    await kill(server);
    await page.getByText("Broken off here").waitFor();
    await serveWithPage(real, place, { ...env, THROUGHLINE_TOKEN: TOKEN }, Number(new URL(server.url).port));
    await page.reload();
    await page.getByText("Broken off here · what arrived is kept").waitFor();
    expect(await page.locator(".is-live").count()).toBe(0);
    await page.locator(".row.reasoning summary").first().click();
    const after = words(await page.locator(".turn").innerText());
    expect([...words(seen)].filter((word) => !after.has(word) && !/worked|copied/i.test(word))).toEqual([]);
    await page.getByRole("button", { name: "Finish it" }).waitFor();
    await say(page, "Go on");
    await page.locator(".turn").nth(1).waitFor();
  });
});
