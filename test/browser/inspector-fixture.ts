/** Sessions to inspect, and how a person opens the inspector. */

import type { Locator, Page } from "playwright-core";

import { type LoggedEvent, memoryStore } from "../../src/index.ts";
import type { AppendDraft } from "../../src/runtime/log/index.ts";
import { LogBuilder } from "../contracts/log-builder.ts";
import { anyTool, call, say as answer } from "../contracts/session-fixture.ts";
import type { ServedOptions } from "../server/server-fixture.ts";
import { begin, openPage, type Opened, type RealPage, say } from "./page-fixture.ts";

export type TabName = "Request" | "Trace" | "Plots" | "Events" | "Block";

/** Opens the inspector on a tab. Returns its panel. Not by roles: in a long conversation, looking for one takes minutes. */
export async function openInspector(page: Page, tab: TabName): Promise<Locator> {
  const id = `inspector-${tab.toLowerCase()}`;
  const itsTab = page.locator(`#${id}`);
  if (!(await itsTab.isVisible())) await page.locator('button[aria-label="Inspector"]').click();
  await itsTab.click();
  const panel = page.locator(`#inspector-panel[aria-labelledby="${id}"]`);
  await panel.waitFor();
  return panel;
}

const thought = (...titles: readonly string[]): object => ({
  reasoning: titles.map((title) => `**${title}**\n\nThe build has three steps, and the second one fails.`),
});

/** A turn with a failed command and a cut stream, and one that asks a person. */
export async function twoTurns(real: RealPage): Promise<Opened> {
  const opened = await openPage(real, {
    system: "You repair builds.",
    script: [
      {
        output: [
          thought("Reading the configuration", "Comparing the paths", "Choosing a file"),
          call("read_file", { path: "packages/core/tsconfig.json" }),
        ],
      },
      {
        output: [thought("Running it"), call("run_command", { command: "npm run build" })],
        faults: ["cut=after-item:0"],
      },
      { output: [call("run_command", { command: "npm run build" })] },
      {
        output: [
          thought("Finding the cause"),
          answer("One project reference is spelled with a capital letter."),
        ],
      },
      {
        output: [
          thought("Changing it"),
          call("edit_file", { path: "packages/core/tsconfig.json", find: "../Shared", replace: "../shared" }),
        ],
      },
      { output: [thought("Done"), answer("Changed.")] },
    ],
    tools: [
      anyTool("read_file", () => Array.from({ length: 12 }, (_, line) => `line ${line + 1}`).join("\n")),
      anyTool("run_command", () => "error TS6053\n[exit code 3]"),
      anyTool("edit_file", () => "replaced 1 occurrence", { access: "write" }),
    ],
    permissions: "ask",
  });
  const { page } = opened;
  await begin(page, "npm run build passes on my Mac and fails here on the Linux runner. Find out why.");
  await page.getByText("One project reference").first().waitFor();
  await say(page, "Change it, and make the build pass.");
  await page.getByRole("button", { name: /^Allow once/ }).click();
  await page.getByText("Changed.").first().waitFor();
  return opened;
}

/** Opens a page on a session that another program could have written. */
export async function openLog(
  real: RealPage,
  events: readonly LoggedEvent[],
  options: ServedOptions = {},
): Promise<Opened> {
  const store = memoryStore();
  await store.create("given", { events: events as readonly AppendDraft[], blobs: new Map() });
  const opened = await openPage(real, { store, ...options });
  await opened.page.goto(`${opened.server.url}/s/given`);
  return opened;
}

/** Reads the log of the session that a page shows. */
export async function eventsShown({ page, remote }: Opened): Promise<readonly LoggedEvent[]> {
  const id = /\/s\/([^/#]+)/.exec(page.url())?.[1] ?? "";
  const handle = await remote.open({ id, mode: "read" });
  const events: LoggedEvent[] = [];
  for await (const event of handle.events()) events.push(event);
  await handle.close();
  return events;
}

/** What the page asks the server of requests: "/requests/3", "/explain?request=2", "/preview". */
export function asksOf({ page }: Opened): string[] {
  const asks: string[] = [];
  page.on("request", (request) => {
    const found = /\/(?:requests|explain|preview)\b.*/.exec(
      new URL(request.url()).pathname + new URL(request.url()).search,
    );
    if (found !== null) asks.push(found[0]);
  });
  return asks;
}

/** A turn of many quick steps. */
export function longTurn(steps: number): LogBuilder {
  const usage = { inputTokens: 900, cachedTokens: 700, outputTokens: 120, reasoningTokens: 80 };
  const log = new LogBuilder().add({
    type: "session_start",
    session: "given",
    root: "given",
    writer: "test",
  });
  log.settings({ renderer: 2 }).user("Go through all files");
  for (let step = 1; step < steps; step += 1) {
    const callId = `c${step}`;
    log.respond({
      usage,
      items: [
        { type: "reasoning" },
        { type: "call", callId, name: "read_file", text: `{"path":"${step}.ts"}` },
      ],
    });
    log.start(callId).result(callId, "text");
  }
  return log.respond({ usage, items: [{ type: "message", text: "All read" }] }).endTurn();
}
