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
    const block = page.locator(".row.reasoning details");
    await expect
      .poll(async () => (await block.locator("summary").innerText()).replaceAll("\n", " "))
      .toMatch(/^Thought for .* 2 parts · \d+ tokens$/);
    expect(await block.getAttribute("open")).toBeNull();
    await block.locator("summary").click();
    await expect.poll(() => block.innerText()).toContain("I answer now.");
    await block.locator("summary").click();
    await expect.poll(() => block.getAttribute("open")).toBeNull();
    expect(await page.locator(".text strong").innerText()).toBe("Hello");
    const link = page.locator(".text a");
    expect(await link.getAttribute("rel")).toContain("noopener");
    expect(await link.innerText()).toContain("https://example.test/x");
    await page.getByText(/1 step/).waitFor();
    await page.getByText("Next request: 1 of 1 thought goes along").waitFor();
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
    const summary = page.locator(".row.reasoning summary");
    await expect.poll(() => summary.innerText()).toMatch(/Reading the log|Deciding/);
    await page.locator(".row.reasoning.is-live").waitFor();
    await summary.click();
    await expect.poll(() => page.locator(".row.reasoning details").innerText()).toMatch(/It is|I answer/);
    await accessible(page);
    await page.reload();
    await page.locator(".row.reasoning.is-live").waitFor();
    const other = await opened.tab();
    await other.locator(".row.reasoning.is-live").waitFor();
    await sameInAll(page, other);
    await page.getByRole("button", { name: "Stop" }).click();
    for (const one of [page, other]) {
      await one.getByText(/Stopped by you after/).waitFor();
      await expect.poll(() => one.locator(".is-live").count()).toBe(0);
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
    expect(await prompt.locator("dl").innerText()).toMatch(/^path\s+<b>a<\/b>$/);
    await prompt.getByRole("button", { name: "As JSON" }).click();
    expect(await prompt.locator("pre").innerText()).toBe('{"path":"<b>a</b>"}');
    await accessible(page);
    await prompt.getByRole("button", { name: "Allow once" }).click();
    await page.locator(".text").getByText("written", { exact: true }).waitFor();
    await page.locator(".row.tool summary").first().click();
    await page.locator(".row.tool").getByText("it is done").waitFor();
    await say(page, "Again");
    await prompt.getByRole("button", { name: "Deny" }).click();
    await page.getByText("not written").waitFor();
    await expect.poll(() => page.locator(".row.tool").last().innerText()).toMatch(/denied/);
  });

  test("another model is taken only after the page has said what goes along to it", async () => {
    const { page } = await openPage(real, {
      script: [{ output: [thought, answer("One")] }, { output: [thought, answer("Two")] }],
    });
    await begin(page, "First");
    await page.locator(".text").getByText("One").waitFor();
    await say(page, "Second");
    await page.locator(".text").getByText("Two").waitFor();
    const chip = page.getByRole("button", { name: /^Model/ });
    await chip.click();
    await page.getByLabel("Model", { exact: true }).selectOption("test/emu-reasoner-mini");
    await page.getByText("0 of 2 thoughts go along to test/emu-reasoner-mini. 2 stay in the log").waitFor();
    await accessible(page);
    expect(await chip.innerText()).not.toContain("mini");
    await page.getByRole("button", { name: /^Switch to/ }).click();
    await expect.poll(() => chip.innerText()).toContain("emu-reasoner-mini");
    await page.getByText("Next request: 0 of 2 thoughts go along").waitFor();
    await expect.poll(() => page.locator(".is-unsent").count()).toBe(2);
    expect(await page.locator(".is-unsent summary").first().innerText()).toContain(
      "made by emu-reasoner, this model cannot read it",
    );
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
    await page.locator(".row.reasoning.is-live").waitFor();
    await server.close();
    await page.getByRole("heading", { name: "The server is away" }).waitFor();
    const again = await startServer({ store, agent, port: server.port, token, page: real.built });
    afterTest(() => again.close());
    await expect.poll(() => page.getByText("The server is away").count()).toBe(0);
    await expect.poll(() => page.locator(".is-live").count()).toBe(0);
    await say(page, "Are you there?");
    await page.locator(".text").getByText("Here again").waitFor();
  });

  test("the page works at 400 pixels and by keyboard alone", async () => {
    const { page } = await openPage(real, { script: [{ output: [think("A"), answer("Done")] }] });
    await page.setViewportSize({ width: 400, height: 800 });
    await page.getByRole("textbox", { name: "Your message" }).focus();
    await page.keyboard.type("Hello");
    await page.keyboard.press("Enter");
    await page.locator(".text").getByText("Done").waitFor();
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: /^More/ }).focus();
    await page.keyboard.press("Enter");
    await accessible(page);
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Request" }).waitFor();
    await accessible(page);
  });
});
