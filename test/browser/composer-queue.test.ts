/** Messages that wait: shown in the frame, in every tab, and taken back into the field. */

import { expect, test } from "vitest";

import { connect } from "../../src/access/client/index.ts";
import { emulatorOf, newPlace } from "../cli/harness.ts";
import { call, say as answer } from "../contracts/session-fixture.ts";
import { waitingTool } from "../contracts/steer-fixture.ts";
import { stalledAfter } from "../tui/screen-harness.ts";
import { TOKEN } from "../tui/server-harness.ts";
import {
  fieldOn,
  flawless,
  kill,
  messagesIn,
  newContext,
  queueRow,
  serveWithPage,
} from "./composer-fixture.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();

describePage(real, "the queue", () => {
  test("a message sent during a turn waits in the frame of every tab, and take back puts it before the words in the field", async () => {
    const wait = waitingTool();
    const opened = await openPage(real, {
      script: [{ output: [call("wait")] }, { output: [answer("Done.")] }, { output: [answer("Next done.")] }],
      tools: [wait.tool],
    });
    const { page, remote, errors } = opened;
    await begin(page, "First");
    await wait.started;
    const field = fieldOn(page);
    await page.getByRole("button", { name: "Stop (Esc)" }).waitFor();
    await page.getByText("Enter queues, Esc stops").waitFor();
    await field.fill("Second");
    await page.getByRole("button", { name: "Stop (Esc)" }).waitFor(); // beside the arrow
    await page.getByRole("button", { name: "Queue" }).click();
    await queueRow(page, "Second").getByText("Next").waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    await field.fill("Third");
    await field.press("Enter");
    await queueRow(page, "Third").getByText("Then").waitFor();
    await flawless(page, ".dock");
    const other = await opened.tab();
    await queueRow(other, "Second").waitFor();
    await fieldOn(other).fill("Joins");
    await fieldOn(other).press("Control+Enter");
    await queueRow(page, "Joins").getByText("Joins this turn").waitFor();
    await field.fill("some words");
    await queueRow(page, "Second").getByRole("button", { name: "Take back" }).click();
    await expect.poll(() => field.inputValue()).toBe("Second\nsome words");
    await expect.poll(() => queueRow(other, "Second").count()).toBe(0);
    // Words of another tab are this browser's draft too.
    await expect.poll(() => fieldOn(other).inputValue()).toBe("Second\nsome words");
    await queueRow(other, "Joins").getByRole("button", { name: "Take back" }).click();
    await expect.poll(() => fieldOn(other).inputValue()).toBe("Joins\nSecond\nsome words");
    wait.finish();
    await page.getByText("Next done.").waitFor();
    await expect.poll(() => page.getByRole("list", { name: "Queued messages" }).count()).toBe(0);
    expect(await messagesIn(remote)).toEqual(["First", "Third"]);
    expect(errors).toEqual([]);
  });

  test("a message of another client can be taken back, and one that has begun says so", async () => {
    const wait = waitingTool();
    const { page, remote } = await openPage(real, {
      script: [{ output: [call("wait")] }, { output: [answer("Done.")] }, { output: [answer("Next done.")] }],
      tools: [wait.tool],
    });
    await begin(page, "First");
    await wait.started;
    const [listed] = await remote.list();
    const session = await remote.open({ id: listed?.id ?? "" });
    await session.send("From elsewhere").accepted();
    await session.send("Too late").accepted();
    await queueRow(page, "From elsewhere").getByRole("button", { name: "Take back" }).click();
    await expect.poll(() => fieldOn(page).inputValue()).toBe("From elsewhere");
    // The page still shows the message while it begins.
    await page.route("**/withdraw", async (route) => {
      wait.finish();
      await page.getByText("Next done.").waitFor();
      await route.continue();
    });
    await queueRow(page, "Too late").getByRole("button", { name: "Take back" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: /begun|ended/ })
      .waitFor();
    expect(await fieldOn(page).inputValue()).toBe("From elsewhere");
    await session.close();
  });

  test("Esc stops the turn and leaves the words", async () => {
    const wait = waitingTool();
    const { page } = await openPage(real, {
      script: [{ output: [call("wait")] }, { output: [answer("Done.")] }],
      tools: [wait.tool],
    });
    await begin(page, "First");
    await wait.started;
    await fieldOn(page).fill("some words");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("button", { name: "Stop (Esc)" }).count()).toBe(0);
    expect(await fieldOn(page).inputValue()).toBe("some words");
  });

  test("waiting messages survive kill -9 of the server: listed while it is away and when it is back, and each runs once", async () => {
    const place = newPlace();
    const { env } = await stalledAfter([{ output: [{ message: "Never the end." }] }], "Never");
    const server = await serveWithPage(real, place, env);
    const page = await (await newContext(real)).newPage();
    await page.goto(server.link);
    await begin(page, "First");
    await page.getByText("Never", { exact: false }).first().waitFor();
    const field = fieldOn(page);
    await field.fill("Second");
    await field.press("Enter");
    await queueRow(page, "Second").getByText("Next").waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    await kill(server);
    await page.getByRole("heading", { name: "The server is away" }).waitFor();
    await page.getByText("1 queued message is saved too.").waitFor();
    expect(await queueRow(page, "Second").count()).toBe(1);
    const { env: answering } = await emulatorOf();
    const next = await serveWithPage(real, place, answering, Number(new URL(server.url).port));
    const remote = await connect(next.url, { token: TOKEN });
    await expect.poll(() => page.getByRole("heading", { name: "The server is away" }).count()).toBe(0);
    await expect.poll(() => queueRow(page, "Second").count()).toBe(0);
    await expect.poll(() => messagesIn(remote)).toEqual(["First", "Second"]);
    await page.reload();
    await page.getByText("Second").first().waitFor();
    expect(await messagesIn(remote)).toEqual(["First", "Second"]);
  });
});
