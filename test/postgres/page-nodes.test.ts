/**
 * The page in a real browser while the servers behind it die: it says that it reconnects, and then shows everything
 * once. Nothing that was typed is lost.
 */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { BlockList } from "../../src/interface/fragments/index.ts";
import { begin, describePage, realPage, say } from "../browser/page-fixture.ts";
import { emulatorOf, eventsOf, expectNoTrace } from "../cli/harness.ts";
import { afterTest } from "../support/clean-up.ts";
import { stalledAfter } from "../tui/screen-harness.ts";
import { database } from "./fixture.ts";
import {
  end,
  eventsIn,
  holderOf,
  type Looked,
  offerPage,
  ownDatabase,
  type Pool,
  type ServedNode,
  servedPool,
} from "./served-nodes.ts";

/** Only to fail with what was waited for instead of a bare time-out. */
const DEADLINE_MS = 90_000;

const real = realPage();

interface Opened {
  readonly page: Page;
  /** Errors of the page's program, and what it reported to the console. */
  readonly problems: readonly string[];
}

async function open(link: string): Promise<Opened> {
  const context = await real.browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(DEADLINE_MS);
  afterTest(() => context.close());
  const problems: string[] = [];
  context.on("page", (page) => {
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      // The browser itself reports each request that nobody answered.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        problems.push(message.text());
    });
  });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("button", { name: "New session" }).waitFor(); // the login leads there
  return { page, problems };
}

const input = (page: Page) => page.getByRole("textbox", { name: "Your message" });
const lost = (page: Page) => page.getByRole("heading", { name: "The server is away" });
const sessionOn = (page: Page): string => page.url().split("/s/")[1] ?? "";

/** What a reader sees: the kind of each block, and the words of people and models. */
async function blocksOn(page: Page): Promise<readonly string[]> {
  const items = await page.locator("[data-block]:not(.superseded)").all();
  return Promise.all(
    items.map(async (item) => {
      const classes = ((await item.getAttribute("class")) ?? "").split(" ");
      const kind = KINDS.find((one) => classes.includes(one)) ?? "";
      const words = { user: ".plain", text: ".prose" }[kind as string];
      const text = words === undefined ? "" : await item.locator(words).innerText();
      return `${kind.replace("-", "_")}: ${text.trim()}`;
    }),
  );
}

const KINDS = ["user", "reasoning", "text", "tool", "note", "turn-end"] as const;

function blocksOf(events: readonly LoggedEvent[]): readonly string[] {
  const list = new BlockList();
  list.add(events);
  return list
    .view({ writerAlive: false })
    .filter(({ superseded }) => !superseded)
    .map((block) => `${block.kind}: ${block.kind === "user" || block.kind === "text" ? block.text : ""}`);
}

/** The page shows what the log has, each block once, before and after a reload. */
async function expectEverythingOnce(page: Page, db: Looked, expected: readonly string[]): Promise<void> {
  await expect.poll(() => blocksOn(page)).toEqual(expected);
  expect(blocksOf(await eventsIn(db, sessionOn(page)))).toEqual(expected);
  await page.reload();
  await expect.poll(() => blocksOn(page)).toEqual(expected);
  expectNoTrace({ out: await page.locator("body").innerText(), err: "" });
}

async function messagesIn(db: Looked, session: string): Promise<readonly string[]> {
  return eventsOf(await eventsIn(db, session), "user_message").map(({ content }) =>
    content.map((part) => (part.type === "text" ? part.text : part.type)).join(""),
  );
}

const thought = { reasoning: ["**Looking**\n\nOne by one."] };
const GOES_ON = [
  { output: [thought, { message: "The first half. The second half." }] },
  { output: [thought, { message: "The first half. The second half." }] },
  { output: [{ message: "The second answer." }] },
  { output: [{ message: "The third answer." }] },
];
const FIRST = ["user: Go", "reasoning: ", "text: The first half. The second half.", "turn_end: "];

interface Streaming extends Opened {
  readonly db: Looked;
  readonly pool: Pool;
  readonly one: ServedNode;
  readonly two: ServedNode;
}

/** A page whose only server, "one", stops in the middle of an answer. "two" runs and gets no connections yet. */
async function streaming(): Promise<Streaming> {
  offerPage(real.built);
  const db = await database();
  const pool = await servedPool(db);
  const { env } = await stalledAfter(GOES_ON, "The first half.");
  const [one, two] = await Promise.all([pool.join("one", env), pool.start("two", env)]);
  const opened = await open(one.link);
  await begin(opened.page, "Go");
  await opened.page.locator(".text:not(.superseded)").getByText("The first half.").waitFor();
  expect(await holderOf(db, sessionOn(opened.page))).toBe("one");
  return { ...opened, db, pool, one, two };
}

function expectCalm(...nodes: readonly ServedNode[]): void {
  for (const node of nodes) expectNoTrace({ out: "", err: node.told() });
}

describePage(real, "the page on several nodes", () => {
  test("says that the server is away when its node is killed in an answer, and shows the resumed answer and what was typed once", async () => {
    const { page, problems, db, pool, one, two } = await streaming();
    await input(page).fill("Typed before");
    await end(one, "SIGKILL");
    await lost(page).waitFor();
    expect(await blocksOn(page)).toEqual(["user: Go", "reasoning: ", "text: The first half."]);
    expect(await input(page).inputValue()).toBe("Typed before");
    await page.keyboard.press("Enter"); // nobody takes it yet, so it stays
    expect(await input(page).inputValue()).toBe("Typed before");
    pool.balancer.join("two", two.port);
    await expect.poll(() => lost(page).count()).toBe(0);
    await input(page).press("Enter");
    await expect.poll(() => input(page).inputValue()).toBe("");
    await input(page).fill("Not sent yet");
    await page.locator(".text:not(.superseded)").getByText("The second answer.").waitFor();
    await page.locator(".turn-end").nth(1).waitFor();
    const all = [...FIRST, "user: Typed before", "text: The second answer.", "turn_end: "];
    await expectEverythingOnce(page, db, all);
    expect(await input(page).inputValue()).toBe("Not sent yet");
    expect(await messagesIn(db, sessionOn(page))).toEqual(["Go", "Typed before"]);
    expect(problems).toEqual([]);
    expectCalm(two);
  });

  test("can act on a node that does not hold the session, and notices nothing when the node that does is killed", async () => {
    const { page, db, pool, one, two } = await streaming();
    pool.balancer.join("two", two.port);
    pool.balancer.leave("one");
    // Another browser: a tab of the same one would use its open connections, which lead to "one".
    const { page: elsewhere, problems } = await open(two.link);
    await elsewhere.locator(".session", { hasText: "Go" }).click();
    // What the other node generates, and no word of a session that can only be watched.
    await elsewhere.locator(".text:not(.superseded)").getByText("The first half.").waitFor();
    await elsewhere.getByRole("button", { name: "Stop" }).waitFor();
    expect(await elsewhere.getByText("You can only watch it here").count()).toBe(0);
    await say(elsewhere, "From elsewhere");
    await expect
      .poll(() => db.sql("select kind from s.inbox where session = $1", [sessionOn(page)]))
      .toContainEqual({ kind: "send" });
    let sawLoss = false;
    void lost(elsewhere)
      .waitFor()
      .then(
        () => (sawLoss = true),
        () => undefined, // the page was closed first
      );
    await end(one, "SIGKILL"); // its page finds the other node before the loss is worth a word
    const all = [...FIRST, "user: From elsewhere", "text: The second answer.", "turn_end: "];
    for (const each of [page, elsewhere]) await expect.poll(() => blocksOn(each)).toEqual(all);
    expect(sawLoss).toBe(false);
    await expectEverythingOnce(elsewhere, db, all);
    expect(await messagesIn(db, sessionOn(page))).toEqual(["Go", "From elsewhere"]);
    expect(problems).toEqual([]);
    expectCalm(two);
  });

  test("goes on with another node when its own is asked to stop", async () => {
    const { page, problems, db, pool, one, two } = await streaming();
    await input(page).fill("Half typed");
    expect(await end(one, "SIGTERM")).toBe(0);
    await lost(page).waitFor();
    pool.balancer.join("two", two.port);
    await page.locator(".text:not(.superseded)").getByText("The second half.").waitFor();
    await page.locator(".turn-end").waitFor();
    expect(await lost(page).count()).toBe(0);
    await expectEverythingOnce(page, db, FIRST);
    expect(await input(page).inputValue()).toBe("Half typed");
    expect(problems).toEqual([]);
    expectCalm(one, two);
  });

  test("shows the answer to its end, and a message that was typed meanwhile, when the database server crashes", async () => {
    offerPage(real.built);
    const db = await ownDatabase();
    const pool = await servedPool(db, 15_000);
    const words = Array.from({ length: 40 }, (_, n) => `word${n}`).join(" ");
    const { env } = await emulatorOf({
      steps: [{ output: [{ message: words }] }, { output: [{ message: "The second answer." }] }],
      paceMs: 50,
    });
    const [one, two] = await Promise.all([pool.join("one", env), pool.join("two", env)]);
    const { page, problems } = await open(one.link);
    await begin(page, "Go");
    await page.locator(".text:not(.superseded)").getByText("word5").waitFor();
    const restarted = db.cluster.restart("immediate");
    await say(page, "Typed meanwhile");
    await restarted;
    await page.locator(".text:not(.superseded)").getByText("The second answer.").waitFor();
    await page.locator(".turn-end").nth(1).waitFor();
    const all = ["user: Go", `text: ${words}`, "turn_end: "];
    await expectEverythingOnce(page, db, [
      ...all,
      "user: Typed meanwhile",
      "text: The second answer.",
      "turn_end: ",
    ]);
    expect(eventsOf(await eventsIn(db, sessionOn(page)), "response_start")).toHaveLength(2);
    expect(problems).toEqual([]);
    expectCalm(one, two);
  });
});
