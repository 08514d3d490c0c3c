/** Questions on the page: one that a crash left open. */

import { expect, test } from "vitest";

import { fileStore } from "../../src/index.ts";
import { say as answer } from "../contracts/session-fixture.ts";
import { startCrash } from "../crash/crash-fixture.ts";
import { weatherTool } from "../crash/crash-plan.ts";
import { describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();

describePage(real, "a question on the page", () => {
  test("which was open when the process was killed can be answered in any tab after the turn is resumed", async () => {
    const crash = await startCrash({ permissions: "ask" });
    await crash.seen("permission_request");
    await crash.kill();
    const opened = await openPage(real, {
      script: [{ output: [answer("Sunny after all.")] }],
      store: fileStore(crash.plan.folder),
      tools: [weatherTool(crash.plan)],
      permissions: "ask",
    });
    const { page, errors } = opened;
    await page.locator(".session", { hasText: "What is the weather" }).click();
    await page.getByText("Finish the turn to answer it.").waitFor();
    const prompt = page.getByRole("group", { name: "Permission for get_weather" });
    expect(await prompt.count()).toBe(0);
    const other = await opened.tab();
    await page.getByRole("button", { name: "Finish it" }).click();
    await prompt.waitFor();
    await other.getByRole("button", { name: "Allow" }).click();
    await page.locator("li.text").getByText("Sunny after all.").waitFor();
    await expect.poll(() => prompt.count()).toBe(0);
    expect(await page.getByText("permission_not_pending").count()).toBe(0);
    expect(crash.effects()).toHaveLength(1);
    expect(errors).toEqual([]);
  });
});
