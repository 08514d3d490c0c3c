/**
 * The page in its rarer states: folded while it thinks, two tabs, no network, no summary, another model, other
 * branches.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { fileStore } from "../../src/index.ts";
import { anyTool, call, say as answer, think } from "../contracts/session-fixture.ts";
import { breakableLine } from "./breakable-line.ts";
import {
  begin,
  blocksOn,
  describePage,
  openPage,
  realPage,
  sameInAll,
  say,
  temporaryFolder,
} from "./page-fixture.ts";

const thought = { reasoning: ["**Reading the log**\n\nIt is long.", "**Deciding**\n\nI answer now."] };
const real = realPage();

describePage(real, "the page", () => {
  test("a damaged session says which line and what to do, even with one pane at a time", async () => {
    const folder = temporaryFolder();
    const store = fileStore(folder);
    const { page, agent, errors } = await openPage(real, { store });
    const local = await agent.open({ id: "s1", store });
    await local.send("Hello").result();
    await local.close();
    const file = join(folder, "s1.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").replace(/"type":"settings"/, '"tyqe":"settings"'));
    await page.reload();
    await page.setViewportSize({ width: 500, height: 800 });
    await page.getByRole("button", { name: "Show sessions" }).click();
    await page.locator(".session", { hasText: "s1" }).click();
    const told = page.locator("main .problem");
    await told.waitFor(); // visible, not only in the document
    expect(await told.innerText()).toMatch(/^the log is damaged at line \d+, .*throughline repair s1$/);
    expect(errors).toEqual([]);
  });

  test("a thought can be folded again while it is generated, and the reader's choice outlives another session", async () => {
    const { page, remote } = await openPage(real, {
      script: [{ output: [thought, { message: "Never said." }], faults: ["stall=after-event:12"] }],
    });
    await begin(page, "Think");
    const block = page.locator(".row.reasoning details");
    await expect.poll(() => block.locator("summary").innerText()).toMatch(/Reading the log|Deciding/);
    await expect.poll(() => page.title()).toMatch(/^● Think/);
    await block.locator("summary").click();
    await expect.poll(() => block.getAttribute("open")).not.toBeNull();
    await block.locator("summary").click();
    await expect.poll(() => block.getAttribute("open")).toBeNull();
    // Folding is up to the reader; generation continues.
    expect(await page.locator(".row.reasoning.is-live").count()).toBe(1);
    const motion = (): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.querySelector(".node.live .dot"), "::after").animationName');
    expect(await motion()).toBe("ring");
    await page.emulateMedia({ reducedMotion: "reduce" });
    expect(await motion()).toBe("none");
    await block.locator("summary").click();
    const [first] = await remote.list();
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByText("What are we looking at?").waitFor();
    await page.locator(".session", { hasText: "Think" }).click();
    await expect.poll(() => page.url()).toContain(first?.id);
    await expect.poll(() => block.getAttribute("open")).not.toBeNull();
    const composer = page.getByRole("textbox", { name: "Your message" });
    await expect.poll(() => composer.evaluate((box) => box.ownerDocument.activeElement === box)).toBe(true);
    await page.keyboard.press("Escape"); // the input has the focus, and Esc stops the turn
    await page.locator(".turn-end.cancelled").waitFor();
    await expect.poll(() => page.title()).toMatch(/^Think/);
  });

  test("a tool's question in one tab can be allowed in another", async () => {
    const opened = await openPage(real, {
      script: [{ output: [call("write", { path: "a" })] }, { output: [answer("written")] }],
      tools: [anyTool("write", () => "it is done", { access: "write" })],
      permissions: "ask",
    });
    const { page } = opened;
    await begin(page, "Write it");
    const prompt = page.getByRole("group", { name: "Permission for write" });
    await prompt.waitFor();
    const other = await opened.tab();
    await other.getByRole("button", { name: "Allow once" }).click();
    await page.locator(".text").getByText("written", { exact: true }).waitFor();
    await expect.poll(() => prompt.count()).toBe(0);
    await sameInAll(page, other);
  });

  test("when the connection breaks the page says so, and shows what happened meanwhile when it is back", async () => {
    const line = await breakableLine();
    const { page, remote, server } = await openPage(real, {
      script: [{ output: [answer("One")] }, { output: [answer("Two")] }, { output: [answer("Three")] }],
      server: { allowHosts: [`127.0.0.1:${line.port}`] },
    });
    line.leadTo(server.port);
    await page.goto(`http://127.0.0.1:${line.port}/`);
    await begin(page, "First");
    await page.locator(".text").getByText("One").waitFor();
    line.cut();
    await page.getByText("The server is away").waitFor();
    const handle = await remote.open({ id: page.url().split("/s/")[1] ?? "" });
    await handle.send("Second").result();
    await handle.close();
    expect(await page.getByText("Two").count()).toBe(0);
    line.mend();
    await page.locator(".text").getByText("Two").waitFor();
    await expect.poll(() => page.getByText("The server is away").count()).toBe(0);
    await say(page, "Third");
    await page.locator(".text").getByText("Three").waitFor();
    await page.locator(".turn-end").nth(2).waitFor();
    const before = await blocksOn(page);
    await page.reload();
    await expect.poll(() => blocksOn(page)).toEqual(before);
  });

  test("the page shows a thought without a summary, one that is kept for another model, and the cost if it is known", async () => {
    const { page } = await openPage(real, {
      script: [{ output: [{ reasoning: [] }, answer("One")] }, { output: [answer("Two")] }],
      server: {
        info: { models: ["test/emu-reasoner", "test/emu-reasoner-mini"] },
        costOf: (origin, usage) => (origin.model === "emu-reasoner" ? 0.5 : usage.inputTokens > 0 ? 0.25 : 0),
      },
    });
    await begin(page, "First");
    await page.locator(".turn-end").waitFor();
    const summary = page.locator(".row.reasoning summary");
    expect(await summary.innerText()).toMatch(/^Thought for [^]*no summary/);
    const usage = page.getByRole("button", { name: /^Usage/ });
    await usage.click();
    await page.getByRole("dialog").getByText("$0.500").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.getByLabel("Model", { exact: true }).selectOption("test/emu-reasoner-mini");
    await page.getByText(/1 stays in the log/).waitFor();
    await page.getByRole("button", { name: /^Switch to/ }).click();
    await say(page, "Second");
    await page.locator(".text").getByText("Two").waitFor();
    await expect.poll(() => summary.innerText()).toMatch(/Not sent · made by emu-reasoner/);
    await usage.click();
    await page.getByRole("dialog").getByText("$0.750").waitFor();
    await page.keyboard.press("Escape");
    // Back with the model that made it, nothing is kept back.
    await page.getByRole("button", { name: /^Model/ }).click();
    await page.getByLabel("Model", { exact: true }).selectOption("test/emu-reasoner");
    await page.getByRole("button", { name: /^Switch to/ }).click();
    await page.getByText("Next request: 1 of 1 thought goes along").waitFor();
    await expect.poll(() => page.locator(".is-unsent").count()).toBe(0);
  });

  test("an address leads to an event; a block can be copied, forked after, edited and gone back to; a session can be deleted", async () => {
    const opened = await openPage(real, {
      script: [{ output: [think("A"), answer("**One**")] }, { output: [answer("Two")] }],
    });
    const { page, context } = opened;
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await begin(page, "First");
    await page.locator(".turn-end").waitFor();
    await page.getByRole("button", { name: "Copy the answer" }).click();
    await page.getByText("copied", { exact: true }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("**One**");
    await page.locator(".row.reasoning").hover();
    await page.getByRole("button", { name: "Inspect this thought" }).click();
    await expect.poll(() => page.url()).toMatch(/#\d+$/);
    const other = await opened.tab();
    await other.locator(".row.reasoning.selected").waitFor();
    await other.close();

    await page.getByRole("button", { name: "Edit this message" }).click();
    await page.getByRole("textbox", { name: "Edited message" }).fill("Otherwise");
    await page.getByRole("button", { name: "Send as version 2" }).click();
    await page.locator(".text").getByText("Two").waitFor();
    await expect.poll(() => page.locator(".text").count()).toBe(1);
    await page.getByRole("button", { name: "Version 1 of the message" }).click();
    await page.locator(".text").getByText("One").waitFor();

    const first = page.url().replace(/#.*/, "");
    await page.getByRole("button", { name: "Fork the session here" }).click();
    await expect.poll(() => page.url()).not.toContain(first);
    await page.locator(".text").getByText("One").waitFor();
    const more = page.getByRole("button", { name: /^More/ });
    await more.click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    await more.click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByText("What are we looking at?").waitFor();
    await expect.poll(() => page.locator(".session").count()).toBe(1);
    expect(opened.errors).toEqual([]);
  });
});
