/** The page leads from a call to the session of its sub-agent, and the sub-agent's session names its caller. */

import { expect, test } from "vitest";

import { agentTool, createAgent, emulator } from "../../src/index.ts";
import { call, say as answer } from "../contracts/session-fixture.ts";
import { begin, describePage, openPage, realPage } from "./page-fixture.ts";

const real = realPage();

describePage(real, "the page", () => {
  test("a call links to the session of its sub-agent", async () => {
    const agent = createAgent({ model: emulator() });
    const { page, remote, errors } = await openPage(real, {
      script: [
        { output: [call("research", { prompt: "Think of a number." })] },
        { output: [answer("Done.")] },
      ],
      tools: [agentTool({ name: "research", description: "Researches", agent })],
    });
    await begin(page, "Find out");
    await page.getByText("Done.").waitFor();
    await page.locator(".row.tool details summary").click();
    const link = page.locator(".row.tool a", { hasText: "session sub_" });
    const id = (await link.innerText()).replace("session ", "");
    await link.click();
    await page.getByText(/a sub-agent of session \S+, called by its event \d+/).waitFor();
    expect(page.url()).toContain(`/s/${id}`);
    expect(await page.locator('.session[title*="sub-agent of"]').count()).toBe(1);
    expect((await remote.list()).find((one) => one.id === id)?.subAgentOf).toBeDefined();
    expect(errors).toEqual([]);
  });
});
