/** The page before there is a session: the question, the field, the examples, and the session that sending opens. */

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { newPlace } from "../cli/harness.ts";
import { say as answer } from "../contracts/session-fixture.ts";
import { TOKEN } from "../tui/server-harness.ts";
import { fieldOn, flawless, kill, messagesIn, newContext, serveWithPage } from "./composer-fixture.ts";
import { describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();

describePage(real, "the first start", () => {
  test("asks one question, and an example fills the field and does not send", async () => {
    const { page, remote, errors } = await openPage(real, { script: [{ output: [answer("One.")] }] });
    await page.getByRole("heading", { name: "What are we looking at?" }).waitFor();
    await page.getByText("Every thought the model has is kept, and goes back to it.").waitFor();
    await flawless(page, ".first-start");
    const field = fieldOn(page);
    const examples = page.getByRole("list", { name: "Examples" }).getByRole("button");
    expect(await examples.count()).toBe(3);
    for (const example of await examples.all()) {
      const [words] = (await example.innerText()).split("\n");
      await example.click();
      await expect.poll(async () => (await field.inputValue()).replaceAll("`", "")).toBe(words);
    }
    expect(await remote.list()).toEqual([]);
    expect(await page.getByText("emulator").count()).toBe(0); // this one is a model behind a key
    await field.fill("My own words");
    await page.keyboard.press("Enter");
    await page.getByText("One.").waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    expect(new URL(page.url()).pathname).toMatch(/^\/s\/s_/);
    expect(await messagesIn(remote)).toEqual(["My own words"]);
    expect(errors).toEqual([]);
  });

  test("keeps its draft over a reload and when no session can be opened, and a second try opens one session", async () => {
    const { page, remote } = await openPage(real, { script: [{ output: [answer("One.")] }] });
    const field = fieldOn(page);
    await field.fill("My first words");
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("My first words");
    await page.route("**/api/sessions", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await route.fetch(); // the server has opened it
      return route.fulfill({
        status: 500,
        contentType: "application/json",
        body: JSON.stringify({ error: { code: "server_error", message: "the disk is full" } }),
      });
    });
    await field.focus();
    await page.keyboard.press("Enter");
    await page
      .getByRole("alert")
      .filter({ hasText: "the disk is full Your message is still here." })
      .waitFor();
    expect(await field.inputValue()).toBe("My first words");
    await page.unroute("**/api/sessions");
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("My first words");
    await field.focus();
    await page.keyboard.press("Enter");
    await page.getByText("One.").waitFor();
    expect((await remote.list()).length).toBe(1);
    expect(await messagesIn(remote)).toEqual(["My first words"]);
  });

  test("without a key it says that this is the emulator, each example does there what it says, and its draft outlives the server", async () => {
    const place = newPlace();
    place.write("notes.txt", "some notes");
    const server = await serveWithPage(real, place, {});
    const page = await (await newContext(real)).newPage();
    await page.goto(server.link);
    await page.getByText("No key is set, so this is the built-in emulator: fixed rules, no model.").waitFor();
    await flawless(page, ".first-start");
    const examples = page.getByRole("list", { name: "Examples" }).getByRole("button");
    const agent = await connect(server.url, { token: TOKEN });
    const calls: (readonly [string | undefined, boolean])[] = [];
    for (const index of [0, 1, 2]) {
      await page.goto(server.url);
      await examples.nth(index).click();
      await fieldOn(page).press("Enter");
      await page.waitForURL(/\/s\//);
      const id = new URL(page.url()).pathname.slice("/s/".length);
      const session = await agent.open({ id });
      let tool: string | undefined;
      let asks = false;
      for await (const event of session.follow()) {
        if (event.type === "tool_call") tool ??= event.name;
        if (event.type === "permission_request") {
          asks = true;
          await session.deny(event.requestId);
        }
        if (event.type === "turn_end") break;
      }
      calls.push([tool, asks]);
      await session.close();
    }
    expect(calls).toEqual([
      ["list_files", false],
      ["run_command", true],
      ["write_file", true],
    ]);
    await page.goto(server.url);
    await fieldOn(page).fill("Not yet sent");
    await kill(server);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "The server is away" }).waitFor();
    await page.getByText("Your draft stays in this browser.").waitFor();
    await flawless(page, ".first-start");
    await serveWithPage(real, place, {}, Number(new URL(server.url).port));
    await expect.poll(() => page.getByRole("heading", { name: "The server is away" }).count()).toBe(0);
    expect(await fieldOn(page).inputValue()).toBe("Not yet sent");
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});
