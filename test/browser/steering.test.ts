/** Steering on the page: "Send now" puts the message into the running turn, and it appears where it joined. */

import { expect, test } from "vitest";

import { call, say as answer } from "../contracts/session-fixture.ts";
import { waitingTool } from "../contracts/steer-fixture.ts";
import { begin, blocksOn, describePage, openPage, realPage, sameInAll } from "./page-fixture.ts";

const real = realPage();

describePage(real, "steering", () => {
  test("a message sent now waits, joins the turn, and looks the same in a second tab and after a reload", async () => {
    const wait = waitingTool();
    const opened = await openPage(real, {
      script: [
        { output: [call("wait")] },
        { output: [answer("Both answered.")] },
        { output: [answer("Then the queued one.")] },
      ],
      tools: [wait.tool],
    });
    const { page, errors } = opened;
    await begin(page, "First message");
    await wait.started;
    const field = page.getByRole("textbox", { name: "Your message" });
    const now = page.getByRole("button", { name: "Send now" });
    await field.fill("Queued message");
    await now.waitFor();
    await page.getByRole("button", { name: "Queue" }).click();
    await field.fill("Joins now");
    await now.click();
    await page
      .getByRole("listitem")
      .filter({ hasText: "Joins this turn" })
      .getByText("Joins now")
      .first()
      .waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    const other = await opened.tab();
    wait.finish();
    await page.getByText("Then the queued one.").waitFor();
    await expect.poll(() => page.getByText("Joins this turn").count()).toBe(0);
    const order = [
      "First message",
      "wait",
      "You, into the turn",
      "Joins now",
      "Both answered.",
      "Queued message",
    ];
    // The queue may be drawn before the conversation.
    await expect
      .poll(async () => {
        const shown = (await blocksOn(page)).join("\n");
        return order
          .filter((text) => shown.includes(text))
          .toSorted((a, b) => shown.indexOf(a) - shown.indexOf(b));
      })
      .toEqual(order);
    await sameInAll(page, other);
    await expect.poll(() => now.count()).toBe(0);
    await page.reload();
    await page.getByText("Then the queued one.").waitFor();
    await sameInAll(page, other);
    expect(errors).toEqual([]);
  });
});
