/** What a person reads in the conversation: outcomes, reasons, versions, Markdown. */

import { expect, test } from "vitest";

import { builtinTools } from "../../src/runtime/tools/index.ts";
import { call, say as answer, think } from "../contracts/session-fixture.ts";
import { accessible } from "./accessible.ts";
import { begin, describePage, openPage, realPage, say, temporaryFolder } from "./page-fixture.ts";

const real = realPage();

describePage(real, "the conversation", () => {
  test("a command that ends with another code than 0 is marked as failed and arrives unfolded, in an older turn it is folded after a reload", async () => {
    const { page } = await openPage(real, {
      script: [
        { output: [call("run_command", { command: "echo broken; exit 3" })] },
        { output: [answer("It failed.")] },
        { output: [answer("Yes.")] },
      ],
      tools: builtinTools({ cwd: temporaryFolder() }),
      permissions: "auto",
    });
    await begin(page, "Run it");
    await page.getByText("It failed.").waitFor();
    const row = page.locator(".row.tool");
    expect(await row.locator("summary").innerText()).toMatch(/^failed:\s*Ran\s*echo broken; exit 3\s*exit 3/);
    expect(await row.getAttribute("class")).toContain("is-failed");
    expect(await row.locator(".node.bad .icon-cross").count()).toBe(1);
    expect(await row.locator(".icon-check").count()).toBe(0);
    expect(await row.locator("details").getAttribute("open")).not.toBeNull();
    await row.getByRole("button", { name: "Arguments as JSON" }).click();
    await row.getByText('{"command":"echo broken; exit 3"}').waitFor();
    await say(page, "Really?");
    await page.getByText("Yes.").waitFor();
    expect(await row.locator("details").getAttribute("open")).not.toBeNull();
    await page.reload();
    await page.getByText("Yes.").waitFor();
    expect(await row.locator("details").getAttribute("open")).toBeNull();
    await accessible(page);
  });

  test("an attempt whose stream was cut stays in sight, with its reason, beside the one that took its place", async () => {
    const thought = { reasoning: ["**First try**\n\nIt is cut."] };
    const { page } = await openPage(real, {
      script: [
        { output: [thought, answer("Never whole.")], faults: ["cut=after-item:0"] },
        { output: [{ reasoning: ["**Second try**\n\nIt is whole."] }, answer("Whole.")] },
      ],
    });
    await begin(page, "Go");
    await page.getByText("Whole.", { exact: true }).waitFor();
    const first = page.locator(".row.reasoning").first();
    await expect
      .poll(() => first.locator("summary").innerText())
      .toMatch(/Not sent · the stream was cut, attempt 2 took its place/);
    expect(await first.getAttribute("class")).toContain("is-unsent");
    await page.getByText("Next request: 1 of 2 thoughts goes along").waitFor();
    await accessible(page);
  });

  test("the thought of a stopped turn says that the turn was stopped", async () => {
    const thought = { reasoning: ["**Reading**\n\nIt is long.", "**Deciding**\n\nI answer now."] };
    const { page } = await openPage(real, {
      script: [{ output: [thought, answer("Never.")], faults: ["stall=after-event:12"] }],
    });
    await begin(page, "Think");
    await page.locator(".is-live").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText(/^Stopped by you after/).waitFor();
    await expect
      .poll(() => page.locator(".row.reasoning summary").innerText())
      .toMatch(/Not sent · the turn was stopped/);
  });

  test("a running thought counts its seconds and parts in its title", async () => {
    const thought = {
      reasoning: ["**Reading**\n\nIt is long.", `**Deciding**\n\n${"I answer now, at length. ".repeat(40)}`],
    };
    const { page } = await openPage(real, {
      script: [{ output: [thought, answer("Never.")], faults: ["stall=after-event:40"] }],
    });
    await begin(page, "Think");
    await expect.poll(() => page.locator(".is-live summary").innerText()).toMatch(/Deciding\s+\d+s · part 2/);
  });

  test("an edited message, a repeated answer and an undone turn keep their versions, one click away, and the place on the screen", async () => {
    const { page } = await openPage(real, {
      script: ["One", "Two", "Three", "Four"].map((text) => ({
        output: [think(text), answer(`Answer ${text}`)],
      })),
    });
    await begin(page, "First question");
    await page.getByText("Answer One").waitFor();
    await page.getByRole("button", { name: "Edit this message" }).click();
    const edited = page.getByRole("textbox", { name: "Edited message" });
    expect(await edited.inputValue()).toBe("First question");
    await page.getByText("The old version stays, one arrow away.").waitFor();
    await edited.fill("Second question");
    await accessible(page);
    await page.getByRole("button", { name: "Send as version 2" }).click();
    await page.getByText("Answer Two").waitFor();
    expect(await page.getByText("Answer One").count()).toBe(0);
    await page.getByRole("button", { name: "2/2, show all versions of the message" }).click();
    const list = page.getByRole("menu", { name: "Versions of this message" });
    expect(await list.getByRole("menuitemradio").allInnerTexts()).toEqual([
      expect.stringMatching(/1\s*First question[^]*1 turn · 1 thought/),
      expect.stringMatching(/2\s*Second question[^]*1 turn · 1 thought · .* · shown/),
    ]);
    await accessible(page);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByText("Answer One").waitFor();

    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByText("Answer Three").waitFor();
    await page.getByRole("button", { name: "Version 1 of the answer" }).click();
    await page.getByText("Answer One").waitFor();
    await page.getByRole("button", { name: "Version 2 of the answer" }).click();
    await page.getByText("Answer Three").waitFor();

    await page.getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: "Undo" }).click();
    await page
      .getByText(/Undone: “(?:First|Second) question”/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Bring it back" }).first().click();
    await page
      .getByText(/^Answer /)
      .first()
      .waitFor();
  });

  test("Markdown has task boxes, quotes, aligned tables and code with its language, and code is coloured when it appears", async () => {
    const text = [
      "- [x] done\n- [ ] not yet",
      "> quoted",
      "| name | size |\n|---|---:|\n| 家族 👩‍👩‍👧‍👦 | 12 |",
      '```ts\nconst x = "long enough to scroll " + "x".repeat(2000); // and a comment that goes on and on and on and on and on\n```',
      "<b>bold</b> &amp; x<sup>2</sup> <u>shown</u>",
    ].join("\n\n");
    const { page, context, errors } = await openPage(real, {
      script: [{ output: [answer("Plain.")] }, { output: [answer(text)] }],
    });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(request.url()));
    await begin(page, "Hello");
    await page.getByText("Plain.").waitFor();
    expect(loaded.filter((url) => url.includes("highlight"))).toEqual([]);
    await say(page, "More");
    const code = page.locator(".code");
    await code.locator(".tone-string").first().waitFor();
    expect(loaded.filter((url) => url.includes("highlight"))).toHaveLength(1);
    const prose = page.locator(".text").last();
    expect(await prose.locator(".task").allInnerTexts()).toEqual(["done", "not yet"]);
    expect(await prose.getByRole("img", { name: "done", exact: true }).count()).toBe(1);
    expect(await prose.locator("blockquote").innerText()).toBe("quoted");
    const cell = prose.locator("td").nth(1);
    expect(await cell.evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).textAlign)).toBe(
      "right",
    );
    expect(await prose.locator("b").innerText()).toBe("bold");
    expect(await prose.locator("sup").innerText()).toBe("2");
    expect(await prose.innerText()).toContain("bold & x2 <u>shown</u>");
    const pre = code.locator("pre");
    expect(await pre.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true);
    await pre.focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => pre.evaluate((one) => one.scrollLeft)).toBeGreaterThan(0);
    await code.getByRole("button", { name: "Copy the code" }).click();
    await page.getByText("copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^const x = "long/);
    expect(await code.innerText()).toContain("ts");
    expect(errors).toEqual([]);
    await accessible(page);
  });

  test("a wait for permission is counted by itself and not as work", async () => {
    const { page } = await openPage(real, {
      script: [{ output: [call("run_command", { command: "true" })] }, { output: [answer("Done.")] }],
      tools: builtinTools({ cwd: temporaryFolder() }),
      permissions: "ask",
    });
    await begin(page, "Run it");
    const row = page.locator(".row.tool summary");
    await expect.poll(() => row.innerText(), { timeout: 15_000 }).toMatch(/waited [2-9]s, not counted/);
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("Done.").waitFor();
    const worked = await page.locator(".foot .meta").innerText();
    expect(worked).toMatch(/^Worked for (?:\d+ ms|0\.\ds|1s|1\.\ds) /);
  });

  test("a message of one megabyte is sent, answered and drawn", async () => {
    const { page, errors } = await openPage(real);
    await begin(page, "word ".repeat(200_000));
    await page.locator(".turn-end.completed").waitFor();
    expect((await page.locator(".bubble").innerText()).length).toBeGreaterThan(900_000);
    expect(errors).toEqual([]);
  });
});
