/** The page while its server is away, and after it came back: nothing typed is lost, and nothing is sent twice. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { emulatorOf, newPlace } from "../cli/harness.ts";
import { TOKEN, type Server } from "../tui/server-harness.ts";
import {
  caretOf,
  fieldOn,
  flawless,
  kill,
  messagesIn,
  newContext,
  select,
  serveWithPage,
} from "./composer-fixture.ts";
import { openInspector } from "./inspector-fixture.ts";
import { begin, describePage, realPage } from "./page-fixture.ts";

const real = realPage();
const OTHER_TOKEN = "fedcba9876543210fedcba9876543210";

interface There {
  readonly page: Page;
  readonly server: Server;
  /** Starts the next server at the same place and port. */
  readonly again: (token?: string) => Promise<Server>;
}

/** A page with one answered message in front of a real server process. */
async function there(): Promise<There> {
  const place = newPlace();
  const { env } = await emulatorOf();
  const server = await serveWithPage(real, place, env);
  const page = await (await newContext(real)).newPage();
  await page.goto(server.link);
  await begin(page, "First");
  await page.getByRole("button", { name: "Stop (Esc)" }).waitFor({ state: "detached" });
  await page.getByText("completed").or(page.getByText("Worked for")).first().waitFor();
  const again = (token = TOKEN): Promise<Server> =>
    serveWithPage(real, place, { ...env, THROUGHLINE_TOKEN: token }, Number(new URL(server.url).port));
  return { page, server, again };
}

const away = (page: Page) => page.getByRole("heading", { name: "The server is away" });
const wantsLink = (page: Page) => page.getByRole("heading", { name: "Open the new link" });

async function gone(panel: ReturnType<typeof away>): Promise<void> {
  await expect.poll(() => panel.count()).toBe(0);
}

/** The panel is calm: no alarm, and none of the words that only programmers know. */
async function calm(page: Page): Promise<void> {
  const words = await page.locator(".away").innerText();
  expect(words).not.toMatch(/token|bearer|cookie|code|error|http/i);
  expect(await page.getByRole("alert").count()).toBe(0);
  const colours = await page.evaluate(
    `[...document.querySelectorAll(".away, .away *")].map((one) => getComputedStyle(one).color)`,
  );
  expect(colours).not.toContain("rgb(185, 45, 39)");
  await flawless(page, ".dock");
}

/** The browser has its copy of the page. */
async function kept(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(`caches.match("/").then((copy) => copy !== undefined)`)).toBe(true);
  await page.evaluate(`navigator.serviceWorker.ready.then(() => undefined)`);
}

function of(url: string, token = TOKEN): Promise<readonly string[]> {
  return connect(url, { token }).then(messagesIn);
}

describePage(real, "the server is away", () => {
  test("after kill -9 a panel says what is saved and kept and when it tries again; the draft stays and the page goes on by itself", async () => {
    const { page, server, again } = await there();
    const field = fieldOn(page);
    await field.fill("Half a sentence");
    await select(field, 4);
    await kill(server);
    await away(page).waitFor();
    await page
      .getByText(/All you see is saved, up to event \d+\. Your draft stays in this browser\./)
      .waitFor();
    await page.getByText(/Trying again in \ds\.|Trying now\./).waitFor();
    await page.getByText("Draft kept").waitFor();
    await calm(page);
    await field.focus();
    await page.keyboard.press("Enter"); // sends nothing
    expect([await field.inputValue(), await caretOf(field)]).toEqual(["Half a sentence", [4, 4]]);
    const next = await again();
    await gone(away(page));
    await page.getByRole("status").filter({ hasText: "The server is back. Nothing was lost." }).waitFor();
    expect(await field.inputValue()).toBe("Half a sentence");
    expect(await of(next.url)).toEqual(["First"]);
    await page.keyboard.press("Enter");
    await expect.poll(() => of(next.url)).toEqual(["First", "Half a sentence"]);
    await expect.poll(() => field.inputValue()).toBe("");
  });

  test("a message that was on its way goes out once when the server is back", async () => {
    const { page, server, again } = await there();
    const field = fieldOn(page);
    await page.route("**/turns", (route) => route.abort("connectionreset"));
    await field.fill("On its way");
    await page.keyboard.press("Enter");
    await kill(server);
    await away(page).waitFor();
    await page.getByText("1 message stays in this browser and goes out once.").waitFor();
    await page.getByText("Goes out when the server is back").waitFor();
    expect(await field.inputValue()).toBe("On its way");
    await calm(page);
    await page.unroute("**/turns");
    const next = await again();
    await gone(away(page));
    await expect.poll(() => field.inputValue()).toBe("");
    await expect.poll(() => of(next.url)).toEqual(["First", "On its way"]);
  });

  test("a message that is changed while the server is away is a draft again", async () => {
    const { page, server, again } = await there();
    const field = fieldOn(page);
    await page.route("**/turns", (route) => route.abort("connectionreset"));
    await field.fill("On its wya");
    await page.keyboard.press("Enter");
    await kill(server);
    await away(page).waitFor();
    await field.press("End");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("ay");
    await page.getByText("Your draft stays in this browser.").waitFor();
    await page.unroute("**/turns");
    const next = await again();
    await gone(away(page));
    await page.getByText("Draft kept").waitFor({ state: "detached" });
    expect(await field.inputValue()).toBe("On its way");
    await page.keyboard.press("Enter");
    await expect.poll(() => of(next.url)).toEqual(["First", "On its way"]);
  });

  test("a server with another token asks for its link: a foreign or old one is refused, the new one lets this tab go on", async () => {
    const { page, server, again } = await there();
    const field = fieldOn(page);
    await field.fill("Half a sentence");
    await kill(server);
    const next = await again(OTHER_TOKEN);
    await wantsLink(page).waitFor();
    await page.getByText("Your draft stays in this browser.").waitFor();
    await calm(page);
    const link = page.getByRole("textbox", { name: "New link" });
    const open = page.getByRole("button", { name: "Open", exact: true });
    for (const [text, answer] of [
      ["hello", "That is not a link."],
      ["https://example.com/login?code=x", "This link leads to example.com"],
      ["javascript:alert(1)", "This link leads to another place"],
      [`${next.url}/`, "This link lets nobody in."],
      [server.link, "This link was used before"],
    ] as const) {
      await link.fill(text);
      await open.click();
      await page.getByText(answer).waitFor();
    }
    await link.fill(`  ${next.link} `);
    await open.click();
    await gone(wantsLink(page));
    expect(await field.inputValue()).toBe("Half a sentence");
    await field.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => of(next.url, OTHER_TOKEN)).toEqual(["First", "Half a sentence"]);
    // The session is followed again.
    await page.locator("ol.blocks, .conversation, main").getByText("Half a sentence").first().waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
  });

  test("a tab goes on by itself when another tab of the browser opened the new link, and sends what was on its way once", async () => {
    const { page, server, again } = await there();
    const field = fieldOn(page);
    await page.route("**/turns", (route) => route.abort("connectionreset"));
    await field.fill("On its way");
    await page.keyboard.press("Enter");
    await kill(server);
    await away(page).waitFor();
    await page.unroute("**/turns");
    const next = await again(OTHER_TOKEN);
    await wantsLink(page).waitFor();
    await page.getByText("1 message stays in this browser and goes out once.").waitFor();
    const other = await page.context().newPage();
    await other.goto(next.link);
    await gone(wantsLink(page));
    await expect.poll(() => field.inputValue()).toBe("");
    await expect.poll(() => of(next.url, OTHER_TOKEN)).toEqual(["First", "On its way"]);
  });

  test("with an expired cookie a message stays, also across a reload, and goes out once after the next login", async () => {
    const { page, server } = await there();
    const agent = await connect(server.url, { token: TOKEN });
    const field = fieldOn(page);
    const address = page.url();
    // The message must be what finds out, not the list that is loaded after a turn.
    await page.route("**/api/**", async (route) => {
      if (route.request().method() !== "GET") await route.continue();
    });
    await page.context().clearCookies();
    await field.fill("Not let in");
    await select(field, 3);
    await page.keyboard.press("Enter");
    await wantsLink(page).waitFor();
    await page.unroute("**/api/**");
    // The list is loaded again when the person comes back to the tab. It has no words of its own about the cookie.
    const refused = page.waitForResponse((answer) => answer.url().includes("/api/sessions?"));
    await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
    expect((await refused).status()).toBe(401);
    await calm(page);
    expect([await field.inputValue(), await caretOf(field)]).toEqual(["Not let in", [3, 3]]);
    await page.reload();
    expect(await messagesIn(agent)).toEqual(["First"]);
    await page.goto(await agent.newLink());
    await page.waitForURL(`${server.url}/`);
    await page.goto(address);
    await expect.poll(() => messagesIn(agent)).toEqual(["First", "Not let in"]);
    await expect.poll(() => field.inputValue()).toBe("");
  });

  test("with an expired cookie an action and the inspector say calmly that the server is away, and go on after the next login", async () => {
    const { page, server } = await there();
    const agent = await connect(server.url, { token: TOKEN });
    await openInspector(page, "Request");
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Retry" }).click();
    await wantsLink(page).waitFor();
    const told = page.getByText("The server did not confirm this. Try again when it is back.");
    await told.waitFor();
    await page.getByRole("button", { name: "Later request" }).click();
    await page.getByText("The request cannot be shown: the server is away.").waitFor();
    await page.getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: "Export" }).click();
    const later = page.getByText("This part of the page comes when the server is back.");
    await later.waitFor();
    expect(await page.locator("body").innerText()).not.toMatch(/\btoken\b|bearer|cookie/i);
    await page.keyboard.press("Escape");
    await calm(page);
    await page.getByRole("textbox", { name: "New link" }).fill(await agent.newLink());
    await page.keyboard.press("Enter");
    await gone(wantsLink(page));
    await page.getByText("This is what would be sent now").waitFor();
    await gone(told);
    await page.getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: "Export" }).click();
    await page
      .getByRole("button", { name: "Download" })
      .or(page.getByRole("link", { name: "Download" }))
      .waitFor();
  });

  test("an edit outlives the server and a reload, and one whose answer was lost is not made again", async () => {
    const { page, server, again } = await there();
    const edited = page.getByRole("textbox", { name: "Edited message" });
    await page.getByRole("button", { name: "Edit this message" }).click();
    await edited.fill("First, but better");
    await kill(server);
    await away(page).waitFor();
    const next = await again();
    await gone(away(page));
    await page.reload();
    await expect.poll(() => edited.inputValue()).toBe("First, but better");
    await page.route("**/edit", async (route) => {
      await route.fetch(); // the server has it, and its answer is lost
      await route.abort("connectionreset");
    });
    await page.getByRole("button", { name: "Send as version 2" }).click();
    await page.getByText("2/2").waitFor();
    await page.reload();
    await page.getByText("Worked for").waitFor();
    await page.getByRole("button", { name: "Version 1 of the message" }).click();
    await page.getByText("1/2").waitFor();
    expect(await edited.count()).toBe(0);
    expect(await of(next.url)).toEqual(["First", "First, but better"]);
    expect(await page.evaluate(`Object.keys(localStorage).filter((key) => key.includes("draft"))`)).toEqual(
      [],
    );
  });

  test("a reload after kill -9 shows the panel and the draft, and the page goes on when the server is back", async () => {
    const { page, server, again } = await there();
    await kept(page);
    const field = fieldOn(page);
    await field.fill("Half a sentence");
    await select(field, 4);
    await kill(server);
    await away(page).waitFor();
    await page.reload();
    await away(page).waitFor();
    await expect.poll(() => field.inputValue()).toBe("Half a sentence");
    expect(await caretOf(field)).toEqual([4, 4]);
    await flawless(page, ".start-away");
    const next = await again();
    await gone(away(page));
    await page.getByText("First").first().waitFor();
    await expect.poll(() => field.inputValue()).toBe("Half a sentence");
    expect(await of(next.url)).toEqual(["First"]);
  });

  test("a reload with an expired cookie shows the panel and the draft, and the new link lets the page go on", async () => {
    const { page, server } = await there();
    await kept(page);
    const agent = await connect(server.url, { token: TOKEN });
    const field = fieldOn(page);
    await field.fill("Half a sentence");
    await page.context().clearCookies();
    await page.reload();
    await wantsLink(page).waitFor();
    await expect.poll(() => field.inputValue()).toBe("Half a sentence");
    await flawless(page, ".start-away");
    await page.getByRole("textbox", { name: "New link" }).fill(await agent.newLink());
    await page.keyboard.press("Enter");
    await gone(wantsLink(page));
    await page.getByText("First").first().waitFor();
    await expect.poll(() => field.inputValue()).toBe("Half a sentence");
  });

  test("a page that is loaded while no server answers shows the panel and the draft of its session, and goes on by itself", async () => {
    const { page, server } = await there();
    const field = fieldOn(page);
    await field.fill("Half a sentence");
    await page.route("**/api/**", (route) => route.abort("connectionrefused"));
    await page.reload();
    await away(page).waitFor();
    expect(await field.inputValue()).toBe("Half a sentence");
    await page.getByText("Your draft stays in this browser.").waitFor();
    await field.press("End");
    await page.keyboard.type(" more");
    await flawless(page, ".start-away");
    // While the server is still away: once it is not, the page may go on before the click.
    const asked = page.waitForRequest("**/api/server");
    await page.getByRole("button", { name: "Try now" }).click();
    await asked;
    await page.unroute("**/api/**");
    await gone(away(page));
    await page.getByText("First").first().waitFor();
    await expect.poll(() => field.inputValue()).toBe("Half a sentence more");
    expect(await of(server.url)).toEqual(["First"]);
  });
});
