/** MCP servers on the page: their state, connecting again by keyboard alone, and the question about a call. */

import { expect, test } from "vitest";

import { mcpTools } from "../../src/index.ts";
import { afterTest } from "../contracts/file-fixture.ts";
import { call, say as answer } from "../contracts/session-fixture.ts";
import { ABSENT, EVERYTHING } from "../mcp/support/everything.ts";
import { accessible } from "./accessible.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();

describePage(real, "MCP servers on the page", () => {
  test("are listed with state, tools and problems; one is connected again by keyboard alone", async () => {
    const mcp = await mcpTools({ servers: { all: EVERYTHING, gone: ABSENT } });
    afterTest(() => mcp.close());
    const { page, errors } = await openPage(real, {
      script: [
        { output: [call("mcp__all__echo", { message: "hi\u001B[2J" })] },
        { output: [answer("Done.")] },
      ],
      tools: [mcp],
      permissions: "ask",
    });
    await begin(page, "Go");
    const prompt = page.getByRole("group", { name: "Permission for all/echo" });
    await prompt.getByText("MCP server all, its tool echo", { exact: true }).waitFor();
    expect(await prompt.locator("dl").innerText()).toContain(String.raw`hi\u{1B}[2J`);
    await accessible(page);
    // A letter right after the question appeared may be the rest of a word, and counts for nothing.
    const pressY = async (): Promise<number> => {
      if ((await prompt.count()) > 0) await prompt.press("y");
      return page.locator(".text").getByText("Done.").count();
    };
    await expect.poll(pressY).toBe(1);
    expect(await page.locator(".row.tool summary").first().innerText()).toContain("all/echo");

    await page.getByRole("button", { name: /^More/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "MCP servers" }).focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("group", { name: "MCP servers" });
    await panel.getByText(/^✓ all connected, \d+ tools$/).waitFor();
    await panel
      .getByText(`✗ gone failed: there is no such program: ${ABSENT.command} (connect it again to use it)`)
      .waitFor();
    await accessible(page);
    expect(await page.locator(":focus").getAttribute("aria-label")).toBe("Close");
    for (let presses = 0; presses < 20; presses += 1) {
      if ((await page.locator(":focus").innerText()) === "Connect all again") break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await panel.getByText("… all connecting").waitFor();
    await panel.getByText(/^✓ all connected, \d+ tools$/).waitFor();
    expect(await page.locator(":focus").innerText()).toBe("Connect all again");
    await panel.getByText("Tools of all").click();
    await panel.locator("code", { hasText: /^echo$/ }).waitFor();
    await accessible(page);
    await page.keyboard.press("Escape");
    await expect.poll(() => panel.count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test("an agent without servers says so", async () => {
    const { page, errors } = await openPage(real, { script: [{ output: [answer("Hi.")] }] });
    await begin(page, "Go");
    await page.getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: "MCP servers" }).click();
    await page.getByText("There are no MCP servers.").waitFor();
    await accessible(page);
    expect(errors).toEqual([]);
  });
});
