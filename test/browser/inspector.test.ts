/** The inspector in a real browser: what was sent and why, with its proof. */

import { EventEmitter, once } from "node:events";

import { expect, test } from "vitest";

import type { LoggedEvent } from "../../src/index.ts";
import { LogBuilder } from "../contracts/log-builder.ts";
import { say as answer, think } from "../contracts/session-fixture.ts";
import { asksOf, eventsShown, longTurn, openInspector, openLog, twoTurns } from "./inspector-fixture.ts";
import { begin, describePage, openPage, realPage, say } from "./page-fixture.ts";

const real = realPage();

describePage(real, "the request in the inspector", () => {
  test("is proven, and is a table of what was sent as what and why, and of what was not sent", async () => {
    const opened = await twoTurns(real);
    const { page } = opened;
    const panel = await openInspector(page, "Request");
    await panel.getByText(/^Rebuilt from the log: exactly the \d+\.\d KB that were sent$/).waitFor();
    const table = panel.getByRole("table", { name: "Items of request 6" });
    const rows = await table.getByRole("row").allInnerTexts();
    const words = rows.map((row) =>
      row
        .replaceAll(/<?\d+ ms|\d+(?:\.\d)?s/g, "N")
        .replaceAll(/\s+/g, " ")
        .replace(/\d+\.\d KB/, "SIZE")
        .trim(),
    );
    expect(words).toEqual([
      "Item Sent as Why",
      "Instructions instructions always first",
      "Tools 3 tools definitions in every request",
      expect.stringMatching(/^You npm run build passes .* user message your words$/),
      "Thought for N 3 parts reasoning SIZE sealed same model and endpoint",
      "Read core/tsconfig.json call belongs to its thought",
      "Result, 12 lines call output answers the call",
      expect.stringMatching(/^Thought for N 1 part · attempt 1 not sent the stream was cut/),
      "Run npm run build call of attempt 2, whole",
      "Result, exit 3 call output answers the call",
      "Thought for N 1 part reasoning SIZE sealed same model and endpoint",
      expect.stringMatching(/^Answer One project .* assistant message its own response$/),
      expect.stringMatching(/^You Change it.* user message your words$/),
      "+ New: Thought for N 1 part reasoning SIZE sealed same model and endpoint",
      "+ New: Edit core/tsconfig.json call belongs to its thought",
      "+ New: Result, +1 −1 call output answers the call",
    ]);
    // The names on the wire are in tooltips alone.
    expect(await panel.innerText()).not.toMatch(/function_call|encrypted_content/);
    expect(await table.getByRole("cell", { name: "call output" }).first().getAttribute("title")).toBe(
      "function_call_output",
    );
    expect(opened.errors).toEqual([]);
  });

  test("can be any request and the next one, compared with any earlier one", async () => {
    const { page } = await twoTurns(real);
    const panel = await openInspector(page, "Request");
    const since = panel.getByLabel("Compare with");
    const shownSince = panel.locator(".since");
    await panel.getByText("Since 5: 3 new, 0 gone").waitFor();
    await since.selectOption("1");
    await panel.getByText(/^Since 1: 11 new, 0 gone/).waitFor();
    await since.selectOption("0");
    await expect.poll(() => shownSince.innerText()).toMatch(/^Compare/);
    expect(await panel.getByText("New:").count()).toBe(0);
    await panel.getByRole("button", { name: "Earlier request" }).click();
    await panel.getByRole("table", { name: "Items of request 5" }).waitFor();
    await panel.getByLabel("Request shown").selectOption("1");
    await panel.getByRole("table", { name: "Items of request 1" }).waitFor();
    expect(await panel.getByRole("button", { name: "Earlier request" }).isDisabled()).toBe(true);
    expect(await shownSince.count()).toBe(0);
    await panel.getByLabel("Request shown").selectOption("next");
    await panel.getByText(/^This is what would be sent now: /).waitFor();
    await panel.getByText("Since 6: 2 new, 0 gone").waitFor();
    expect(await panel.getByRole("button", { name: "Later request" }).isDisabled()).toBe(true);
    await say(page, "And now?");
    await page.getByRole("tab", { name: "Trace" }).click();
    await page.getByText("3 turns").waitFor();
  });

  test("a row leads to its block, which is tinted in every tab", async () => {
    const { page } = await twoTurns(real);
    const panel = await openInspector(page, "Request");
    const row = panel.getByRole("button", { name: /^Run npm run build/ });
    await row.click();
    expect(await row.getAttribute("aria-pressed")).toBe("true");
    const trace = await openInspector(page, "Trace");
    await expect
      .poll(() => trace.getByRole("treeitem", { selected: true }).allInnerTexts())
      .toEqual([expect.stringContaining("Run npm run build, exit 3")]);
    const events = await openInspector(page, "Events");
    expect(await events.locator("li.selected .type").allInnerTexts()).toEqual([
      "tool_call",
      "permission_decision",
      "tool_start",
      "tool_result",
    ]);
    const block = await openInspector(page, "Block");
    await block.getByRole("heading", { name: "Run npm run build" }).waitFor();
    await expect
      .poll(() => block.innerText())
      .toMatch(/sent as call: of attempt 2, whole[\s\S]*requests 4–6/);
    expect(await block.innerText()).toMatch(/test|openai\/emu-reasoner at http/);
  });

  test("is shown as JSON and YAML with short payloads, and copied exactly; YAML is loaded when it is chosen", async () => {
    const opened = await twoTurns(real);
    const { page, context, server } = opened;
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const panel = await openInspector(page, "Request");
    await panel.getByText("exactly the").waitFor();
    const loaded: string[] = [];
    page.on("request", (request) => {
      if (request.url().startsWith(`${server.url}/assets/`)) loaded.push(request.url());
    });
    await panel.getByRole("button", { name: "JSON", exact: true }).click();
    const text = panel.getByRole("region", { name: "The whole request as JSON" });
    await expect.poll(() => text.innerText()).toMatch(/"encrypted_content": "\d+\.\d KB sealed"/);
    expect(loaded).toEqual([]);
    await panel.getByRole("button", { name: "YAML", exact: true }).click();
    await expect
      .poll(() => panel.getByRole("region", { name: "The whole request as YAML" }).innerText())
      .toMatch(/encrypted_content: \d+\.\d KB sealed/);
    expect(loaded).toHaveLength(1);
    await panel.getByRole("button", { name: "Copy", exact: true }).click();
    await panel.getByText("Copied").waitFor();
    const copied = (await page.evaluate("navigator.clipboard.readText()")) as string;
    expect(copied).toBe((await rebuiltBody(opened, 6)) ?? "");
  });

  test("that is not what was sent says so and from which item on", async () => {
    const altered = (await eventsShown(await twoTurns(real))).map((event): LoggedEvent =>
      event.type === "user_message" && JSON.stringify(event.content).includes("Change it")
        ? { ...event, content: [{ type: "text", text: "Leave it." }] }
        : event,
    );
    const { page } = await openLog(real, altered);
    const panel = await openInspector(page, "Request");
    await panel
      .getByText(
        /not the bytes that were sent. Request 4 is proven, so it differs at “Thought for .*” or later/,
      )
      .waitFor();
    await panel.getByLabel("Request shown").selectOption("4");
    await panel.getByText(/exactly the .* that were sent/).waitFor();
  });

  test("of another version, of another program and of a long session is shown calmly", async () => {
    const { page } = await openLog(real, longTurn(400).events);
    const panel = await openInspector(page, "Request");
    await panel.getByText("Another version of Throughline rendered it").waitFor();
    expect(await panel.getByRole("row").count()).toBeLessThanOrEqual(302);
    await panel.getByRole("button", { name: /^Show earlier items/ }).click();
    await expect.poll(() => panel.getByRole("row").count()).toBeGreaterThan(302);
    const imported = new LogBuilder().settings().user("hello").respond({});
    const events = imported.events.map((event) =>
      event.type === "response_start" ? { ...event, bodyHash: "" } : event,
    );
    const other = await openLog(real, events);
    const its = await openInspector(other.page, "Request");
    await its.getByText("there is nothing to rebuild").waitFor();
  });

  test("folds what a branch or a summary left behind into one row", async () => {
    const log = new LogBuilder().add({
      type: "session_start",
      session: "given",
      root: "given",
      writer: "test",
    });
    log.settings().user("one");
    const back = log.lastSeq;
    log.respond({ items: [{ type: "reasoning" }, { type: "call", callId: "c" }] }).result("c");
    log
      .respond({ items: [{ type: "message", text: "Said" }] })
      .endTurn()
      .user("two");
    log.respond({ items: [{ type: "message", text: "Said again" }] }).endTurn();
    log
      .branch(back)
      .user("other")
      .respond({ items: [{ type: "message", text: "So" }] })
      .endTurn();
    const { page } = await openLog(real, log.events);
    const panel = await openInspector(page, "Request");
    await panel.getByLabel("Compare with").selectOption("0");
    await panel.getByRole("button", { name: "6 items" }).click();
    await expect.poll(() => panel.getByText("not sent", { exact: true }).count()).toBe(6);
  });
});

describePage(real, "the inspector", () => {
  test("asks the server nothing while it is closed, and while a turn runs only when a response has ended", async () => {
    const opened = await openPage(real, {
      script: [
        { output: [think("A"), answer("One")] },
        { output: [think("B"), answer("Never said")], faults: ["stall=after-event:8"] },
      ],
    });
    const { page } = opened;
    const asks = asksOf(opened);
    await begin(page, "First");
    await page.getByText("One").first().waitFor();
    // Other parts of the page ask what becomes of the thoughts.
    const mine = (): readonly string[] => asks.filter((ask) => ask !== "/explain");
    expect(mine()).toEqual([]);
    const panel = await openInspector(page, "Request");
    await panel.getByText("exactly the").waitFor();
    await openInspector(page, "Trace");
    await page.getByText("1 turn, 1 step").waitFor();
    expect(mine()).toEqual(["/requests/1"]);
    await openInspector(page, "Request");
    await page.getByLabel("Request shown").selectOption("next");
    await page.getByText("This is what would be sent now").waitFor();
    const before = mine().length;
    await say(page, "Second");
    const head = page.getByText("Request 2 of 2");
    await page.getByLabel("Request shown").selectOption("2");
    await head.waitFor();
    // Request 2 and what it is compared with are asked for once, however many deltas come.
    await expect
      .poll(() =>
        mine()
          .slice(before)
          .filter((ask) => ask === "/requests/2"),
      )
      .toHaveLength(1);
    expect(new Set(mine().slice(before)).size).toBe(mine().slice(before).length);
    await page.getByRole("button", { name: "Close the inspector" }).click();
    await expect.poll(() => page.getByRole("tablist", { name: "Inspector" }).count()).toBe(0);
  });

  test("stays on the newest request while a turn goes on, and keeps the last one until the next has come", async () => {
    const opened = await openPage(real, {
      script: [{ output: [answer("One")] }, { output: [answer("Two")] }],
    });
    const { page, server } = opened;
    await begin(page, "First");
    const panel = await openInspector(page, "Request");
    await panel.getByRole("table", { name: "Items of request 1" }).waitFor();
    const held = new EventEmitter();
    const released = once(held, "released");
    await page.route(`${server.url}/api/sessions/*/requests/2`, async (route) => {
      await released;
      await route.continue();
    });
    await say(page, "Second");
    await page.getByText("Two").first().waitFor();
    expect(await panel.getByRole("table", { name: "Items of request 1" }).count()).toBe(1);
    held.emit("released");
    await panel.getByRole("table", { name: "Items of request 2" }).waitFor();
    await panel.getByText("Since 1: 2 new, 0 gone").waitFor();
  });

  test("shows one calm line if the server does not answer, and tries again when asked", async () => {
    const { page, server } = await twoTurns(real);
    await page.route(`${server.url}/api/sessions/*/requests/*`, (route) => route.abort());
    const panel = await openInspector(page, "Request");
    await panel.getByText(/^The request cannot be shown: /).waitFor();
    expect(await panel.getByRole("alert").count()).toBe(0);
    await page.unroute(`${server.url}/api/sessions/*/requests/*`);
    await panel.getByRole("button", { name: "Earlier request" }).click();
    await panel.getByText("exactly the").waitFor();
    await panel.getByRole("button", { name: "Later request" }).click();
    await panel.getByRole("table", { name: "Items of request 6" }).waitFor();
  });
});

async function rebuiltBody(
  { page, remote }: Awaited<ReturnType<typeof twoTurns>>,
  request: number,
): Promise<string> {
  const handle = await remote.open({ id: /\/s\/([^/#]+)/.exec(page.url())?.[1] ?? "", mode: "read" });
  const { body } = await handle.rebuild(request);
  await handle.close();
  return body;
}
