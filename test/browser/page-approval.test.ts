/** Questions on the page: one that a crash left open, and answers for the whole session. */

import { expect, test } from "vitest";

import { fileStore } from "../../src/index.ts";
import { builtinTools } from "../../src/runtime/tools/index.ts";
import { call, say as answer } from "../contracts/session-fixture.ts";
import { startCrash } from "../crash/crash-fixture.ts";
import { weatherTool } from "../crash/crash-plan.ts";
import { begin, describePage, openPage, realPage, say, temporaryFolder } from "./page-fixture.ts";

const real = realPage();

const run = (command: string): { readonly output: readonly object[] } => ({
  output: [call("run_command", { command })],
});

describePage(real, "a question on the page", () => {
  test("which was open when the process was killed can be answered in any tab after the turn is resumed", async () => {
    const crash = await startCrash({ permissions: "ask" });
    await crash.seen("permission_request");
    await crash.kill();
    const opened = await openPage(real, {
      script: [{ output: [answer("Sunny after all.")] }],
      store: fileStore(crash.plan.folder),
      tools: [weatherTool(crash.plan)],
      permissions: "ask",
    });
    const { page, errors } = opened;
    await page.locator(".session", { hasText: "What is the weather" }).click();
    await page.getByText("Finish the turn to answer it.").waitFor();
    const prompt = page.getByRole("group", { name: "Permission for get_weather" });
    expect(await prompt.count()).toBe(0);
    const other = await opened.tab();
    await page.getByRole("button", { name: "Finish it" }).click();
    await prompt.waitFor();
    await other.getByRole("button", { name: "Allow once" }).click();
    await page.locator(".text").getByText("Sunny after all.").waitFor();
    await expect.poll(() => prompt.count()).toBe(0);
    expect(await page.getByText("permission_not_pending").count()).toBe(0);
    expect(crash.effects()).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  test("shows the exact rule, takes the letters only while it has the focus, and adds the rule to the session", async () => {
    const { page, errors, remote } = await openPage(real, {
      script: [
        run("echo one"),
        { output: [answer("First.")] },
        run("echo one"),
        run("echo two"),
        { output: [answer("Second.")] },
      ],
      tools: builtinTools({ cwd: temporaryFolder() }),
      permissions: "ask",
    });
    await begin(page, "Go");
    const prompt = page.getByRole("group", { name: "Permission for run_command" });
    await prompt.getByText("run_command:echo one", { exact: true }).waitFor();
    expect(await prompt.getByRole("button").allInnerTexts()).toEqual([
      "As JSON",
      "Allow once\nY",
      "Allow for this session\nA",
      "Deny\nN",
    ]);
    const input = page.getByRole("textbox", { name: "Your message" });
    await input.pressSequentially("yan");
    expect(await input.inputValue()).toBe("yan");
    expect(await prompt.count()).toBe(1);
    await input.fill("");
    await prompt.focus();
    await page.keyboard.press("a");
    await page.locator(".text").getByText("First.").waitFor();
    await page.getByText("allowed in this session: run_command:echo one").waitFor();
    await say(page, "Again");
    await prompt.getByText("run_command:echo two", { exact: true }).waitFor(); // only the other command is asked about
    await prompt.focus();
    await page.keyboard.press("n");
    await page.locator(".text").getByText("Second.").waitFor();
    const [first] = await remote.list();
    const handle = await remote.open({ id: first?.id ?? "" });
    expect(handle.rules).toEqual([{ rule: "run_command:echo one", from: "session" }]);
    await handle.close();
    expect(errors).toEqual([]);
  });
});
