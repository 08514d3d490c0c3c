/** Questions of running tools on the page: forms by keyboard alone, addresses that open nothing, and hostile ones. */

import { expect, test } from "vitest";

import type { ElicitationAnswer, ElicitationField } from "../../src/base/events/index.ts";
import { fileStore } from "../../src/index.ts";
import { address, askingTool, COUNT, form, NAME } from "../contracts/elicit-fixture.ts";
import { call, say as answer } from "../contracts/session-fixture.ts";
import { startCrash } from "../crash/crash-fixture.ts";
import { weatherTool } from "../crash/crash-plan.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();
const script = [{ output: [call("ask")] }, { output: [answer("After it.")] }];

async function asked(request: Parameters<typeof askingTool>[0]) {
  const got: ElicitationAnswer[] = [];
  const opened = await openPage(real, { script, tools: [askingTool(request, got)] });
  await begin(opened.page, "Go");
  const group = opened.page.getByRole("group", { name: "Question of people" });
  return { ...opened, got, group };
}

const options = [
  { value: "s", title: "Small" },
  { value: "l", title: "Large" },
];
const SIZE: ElicitationField = { name: "size", type: "choice", title: "Size", required: true, options };
const EXTRAS: ElicitationField = {
  name: "extras",
  type: "choices",
  title: "Extras",
  required: false,
  options,
};
const SURE: ElicitationField = {
  name: "sure",
  type: "boolean",
  title: "Sure",
  required: true,
  default: false,
};
const NOTE: ElicitationField = {
  name: "note",
  type: "string",
  title: "Note",
  required: false,
  default: "none",
};

describePage(real, "the question of a running tool on the page", () => {
  test("is a form with labels that the keyboard alone fills in, corrects and sends", async () => {
    const { page, got, group, errors } = await asked(form([NAME, COUNT, SIZE, EXTRAS, SURE, NOTE]));
    await group.waitFor();
    expect(await page.getByRole("status").allInnerTexts()).toContain("people asks a question.");
    await group.getByLabel("Your name").focus();
    await page.keyboard.press("Enter");
    await group.getByRole("alert").filter({ hasText: "Your name needs a value" }).waitFor();
    await group.getByRole("alert").filter({ hasText: "Size needs a value" }).waitFor();
    const id = await group.getByLabel("Your name").getAttribute("id");
    expect(await page.locator(":focus").getAttribute("id")).toBe(id);
    await page.keyboard.type("Ada Page");
    await page.keyboard.press("Tab");
    expect(await group.getByLabel("How many (optional)").inputValue()).toBe("3");
    await page.keyboard.type("many");
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Y");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Backspace"); // the default is selected by Tab: the field is left out
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter"); // Send
    await group.getByRole("alert").filter({ hasText: "How many must be a number" }).waitFor();
    expect(got).toEqual([]);
    await group.getByLabel("How many (optional)").fill("4");
    await page.keyboard.press("Enter");
    await page.locator(".text").getByText("After it.").waitFor();
    expect(got).toEqual([
      { action: "accept", content: { name: "Ada Page", count: 4, size: "l", extras: ["s"], sure: true } },
    ]);
    expect(await group.count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test("is in every tab; one declines, and both close it", async () => {
    const opened = await asked(form());
    const { page, got, group, errors } = opened;
    await group.waitFor();
    const other = await opened.tab();
    await other
      .getByRole("group", { name: "Question of people" })
      .getByRole("button", { name: "Decline" })
      .click();
    await page.locator(".text").getByText("After it.").waitFor();
    await expect.poll(() => group.count()).toBe(0);
    expect(got).toEqual([{ action: "decline" }]);
    await page.locator(".row.tool summary").click();
    await page.getByText("people asked: Who are you? · declined").waitFor();
    expect(errors).toEqual([]);
  });

  test("with an address shows its real host, links without an opener, and opens nothing", async () => {
    const { page, context, got, group, elsewhere, errors } = await asked(
      address("https://ex\u0430mple.com/login?to=\u202Egpj"),
    );
    await group.waitFor();
    expect(await group.locator(".host").innerText()).toBe("xn--exmple-4nf.com");
    expect(await group.locator("pre").innerText()).toBe("https://xn--exmple-4nf.com/login?to=%E2%80%AEgpj");
    const link = group.getByRole("link");
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(await link.getAttribute("href")).toBe("https://xn--exmple-4nf.com/login?to=%E2%80%AEgpj");
    expect(context.pages()).toHaveLength(1);
    await group.getByRole("button", { name: "I am done" }).click();
    await page.locator(".text").getByText("After it.").waitFor();
    expect(got).toEqual([{ action: "accept", content: {} }]);
    expect(context.pages()).toHaveLength(1);
    expect([elsewhere, errors]).toEqual([[], []]);
  });

  test("that is hostile shows its control characters and markup as text, or is not shown at all", async () => {
    const request = form(
      [{ ...NAME, name: "__proto__", title: "<img src=x onerror=alert(1)>\u202E", description: "a\u0007b" }],
      "<script>alert(1)</script>\u001B[2J",
    );
    const { page, got, group, elsewhere, errors } = await asked(request);
    await group.getByText(String.raw`<script>alert(1)</script>\u{1B}[2J`).waitFor();
    await group.getByText(String.raw`a\u{7}b`).waitFor();
    await group.getByLabel(String.raw`<img src=x onerror=alert(1)>\u{202E}`).fill("x");
    await group.getByRole("button", { name: "Send" }).click();
    await page.locator(".text").getByText("After it.").waitFor();
    expect(JSON.stringify(got)).toBe('[{"action":"accept","content":{"__proto__":"x"}}]');
    expect([elsewhere, errors]).toEqual([[], []]);
  });

  test.each([
    ["a password", form([{ ...NAME, name: "password" }]), "asks for a secret"],
    ["a script as its address", address("javascript:alert(1)"), "is not an https one"],
  ])("is not shown because of %s, and a notice names the server", async (_what, request, why) => {
    const { page, got, group } = await asked(request);
    await page.locator(".text").getByText("After it.").waitFor();
    await page.locator(".note", { hasText: why }).waitFor();
    expect(await group.count()).toBe(0);
    expect(got).toEqual([{ action: "decline" }]);
  });

  test("which was open when the process was killed is not open afterwards", async () => {
    const crash = await startCrash({ asks: true });
    await crash.seen("elicitation_request");
    await crash.kill();
    const { page, errors } = await openPage(real, {
      script: [{ output: [answer("Sunny after all.")] }],
      store: fileStore(crash.plan.folder),
      tools: [weatherTool(crash.plan)],
      permissions: "auto",
    });
    await page.locator(".session", { hasText: "What is the weather" }).click();
    await page.getByRole("button", { name: "Finish it" }).waitFor();
    const group = page.getByRole("group", { name: "Question of weather" });
    expect(await group.count()).toBe(0);
    await page.getByRole("button", { name: "Finish it" }).click();
    await page.locator(".text").getByText("Sunny after all.").waitFor();
    expect(await group.count()).toBe(0);
    await page.getByText("outcome unknown").first().waitFor();
    expect(crash.effects()).toEqual([]);
    expect(errors).toEqual([]);
  });
});
