/** The page in a real browser: what a user does and sees. */

import { expect, test } from "vitest";

import { startServer } from "../../src/access/server/index.ts";
import { fileStore } from "../../src/index.ts";
import { afterTest, temporaryFolder } from "../contracts/file-fixture.ts";
import { anyTool, call, say as answer, think } from "../contracts/session-fixture.ts";
import { ownPort } from "../support/own-port.ts";
import { accessible } from "./accessible.ts";
import { begin, blocksOn, describePage, openPage, realPage, sameInAll, say } from "./page-fixture.ts";

const real = realPage();

const thought = { reasoning: ["**Reading the log**\n\nIt is long.", "**Deciding**\n\nI answer now."] };
const stalled = (unit: string): string => `stall=${unit}`;

describePage(real, "the page", () => {
  test("after sending a message, the thought is folded, unfolds to its parts and folds again, and a reload shows the same", async () => {
    const { page, elsewhere, errors } = await openPage(real, {
      script: [{ output: [thought, { message: "**Hello** from [here](https://example.test/x)." }] }],
    });
    await begin(page, "Hi there");
    const block = page.locator("li.reasoning details");
    await expect
      .poll(() => block.locator("summary").innerText())
      .toMatch(/^Thought for .* · 2 parts · \d+ tokens$/);
    expect(await block.getAttribute("open")).toBeNull();
    await block.locator("summary").click();
    await expect.poll(() => block.innerText()).toContain("I answer now.");
    await block.locator("summary").click();
    await expect.poll(() => block.getAttribute("open")).toBeNull();
    expect(await page.locator("li.text strong").innerText()).toBe("Hello");
    const link = page.locator("li.text a");
    expect(await link.getAttribute("rel")).toContain("noopener");
    expect(await link.innerText()).toContain("https://example.test/x");
    await page.getByText(/1 step/).waitFor();
    const before = await blocksOn(page);
    await page.reload();
    await expect.poll(() => blocksOn(page)).toEqual(before);
    expect({ elsewhere, errors }).toEqual({ elsewhere: [], errors: [] });
    await accessible(page);
  });

  test("thinking shows a title, unfolds on demand, looks the same after a reload and in a second tab, and stops when stopped", async () => {
    const opened = await openPage(real, {
      script: [{ output: [thought, { message: "Never said." }], faults: [stalled("after-event:12")] }],
    });
    const { page } = opened;
    await begin(page, "Think");
    const summary = page.locator("li.reasoning summary");
    await expect.poll(() => summary.innerText()).toMatch(/Reading the log|Deciding/);
    await page.locator("li.reasoning .dot").waitFor();
    await summary.click();
    await expect.poll(() => page.locator("li.reasoning details").innerText()).toMatch(/It is|I answer/);
    await accessible(page);
    await page.reload();
    await page.locator("li.reasoning .dot").waitFor();
    const other = await opened.tab();
    await other.locator("li.reasoning .dot").waitFor();
    await sameInAll(page, other);
    await page.getByRole("button", { name: "Stop" }).click();
    for (const one of [page, other]) {
      await one
        .getByText(/cancelled/)
        .first()
        .waitFor();
      await expect.poll(() => one.locator(".dot").count()).toBe(0);
    }
    await sameInAll(page, other);
  });

  test("a tool's question shows its exact arguments, and the tool runs or does not", async () => {
    const { page } = await openPage(real, {
      script: [
        { output: [call("write", { path: "<b>a</b>" })] },
        { output: [answer("written")] },
        { output: [call("write", { path: "b" })] },
        { output: [answer("not written")] },
      ],
      tools: [anyTool("write", () => "it is done", { access: "write" })],
      permissions: "ask",
    });
    await begin(page, "Write it");
    const prompt = page.getByRole("group", { name: "Permission for write" });
    await prompt.waitFor();
    expect(await prompt.locator("pre").innerText()).toBe('{"path":"<b>a</b>"}');
    await accessible(page);
    await prompt.getByRole("button", { name: "Allow once" }).click();
    await page.locator("li.text").getByText("written", { exact: true }).waitFor();
    await page.locator("li.tool summary").first().click();
    await page.locator("li.tool").getByText("it is done").waitFor();
    await say(page, "Again");
    await prompt.getByRole("button", { name: "Deny" }).click();
    await page.getByText("not written").waitFor();
    await expect.poll(() => page.locator("li.tool").last().innerText()).toMatch(/denied/);
  });

  test("the inspector shows origin, decision and requests; plots have their figures; a model switch comes with a warning", async () => {
    const { page } = await openPage(real, {
      script: [
        { output: [thought, answer("One")] },
        { output: [thought, answer("Two")] },
        { output: [answer("Three")] },
      ],
    });
    await begin(page, "First");
    await page.locator("li.text").getByText("One").waitFor();
    await say(page, "Second");
    await page.locator("li.text").getByText("Two").waitFor();
    await page
      .locator("li.reasoning")
      .first()
      .getByRole("button", { name: /Inspect/ })
      .click();
    const panel = page.getByRole("tabpanel");
    await expect
      .poll(() => panel.innerText())
      .toMatch(/emu-reasoner[\s\S]*next request: replay[\s\S]*sent in request 2/);
    await page.getByRole("tab", { name: "requests" }).click();
    await panel.getByRole("button", { name: /^2 ·/ }).click();
    await expect.poll(() => panel.innerText()).toContain("exactly the bytes that were sent");
    await expect.poll(() => panel.innerText()).toMatch(/Since request 1: 1 the same, 0 gone, 3 new/);
    await say(page, "Third");
    await panel.getByRole("button", { name: /^3 ·/ }).click();
    await panel.getByLabel("Compare with request").selectOption("1");
    await expect.poll(() => panel.innerText()).toMatch(/Since request 1: 1 the same, 0 gone, 6 new/);
    await page.locator("li.text").getByText("Three").waitFor();
    await page.getByRole("tab", { name: "plots" }).click();
    await expect.poll(() => panel.locator("svg rect").count()).toBeGreaterThanOrEqual(8);
    await panel.getByText("Figures").first().click();
    await expect.poll(() => panel.locator("table").first().locator("tbody tr").count()).toBe(3);
    await accessible(page);
    await page.getByRole("tab", { name: "events" }).click();
    await panel.getByText("turn_end").first().waitFor();
    await page.getByLabel("Model").selectOption("test/emu-reasoner-mini");
    await page.getByText(/2 reasoning items stay in the log/).waitFor();
    await page.getByRole("button", { name: /^Switch to/ }).click();
    await expect.poll(() => page.locator(".usage").innerText()).toContain("emu-reasoner-mini");
  });

  test("when the server goes away in the middle of a turn and comes back, the page says so and continues", async () => {
    const store = fileStore(temporaryFolder());
    const token = "t".repeat(43);
    const opened = await openPage(real, {
      store,
      server: { token, port: await ownPort() },
      script: [
        { output: [thought, { message: "Never said." }], faults: [stalled("after-event:12")] },
        { output: [answer("Here again")] },
      ],
    });
    const { page, server, agent } = opened;
    await begin(page, "Think");
    await page.locator("li.reasoning .dot").waitFor();
    await server.close();
    await page
      .getByText(/Connection lost|server/)
      .first()
      .waitFor();
    const again = await startServer({ store, agent, port: server.port, token, page: real.built });
    afterTest(() => again.close());
    await expect.poll(() => page.getByText("Connection lost").count()).toBe(0);
    await expect.poll(() => page.locator(".dot").count()).toBe(0);
    await say(page, "Are you there?");
    await page.locator("li.text").getByText("Here again").waitFor();
  });

  test("the page works at 400 pixels and by keyboard alone", async () => {
    const { page } = await openPage(real, { script: [{ output: [think("A"), answer("Done")] }] });
    await page.setViewportSize({ width: 400, height: 800 });
    await page.getByRole("button", { name: "New session" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Your message" }).focus();
    await page.keyboard.type("Hello");
    await page.keyboard.press("Enter");
    await page.locator("li.text").getByText("Done").waitFor();
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Inspect this text block" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText(/next request: replay/).waitFor();
    await page.getByRole("button", { name: "conversation" }).click();
    await page.getByRole("button", { name: "inspector" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "requests" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("Tokens per step").waitFor();
    await accessible(page);
  });
});
