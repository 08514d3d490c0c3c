/** MCP servers in the line chat, for a screen reader and with `-p`. The server is a real process. */

import { expect, test } from "vitest";

import { emulatorOf, eventsOf, expectNoTrace, newPlace, onlyLog, run } from "./harness.ts";
import { callEcho, says, withServers } from "./mcp-fixture.ts";
import { onTerminal } from "./pty.ts";

const PROMPT = "› ";

test("/mcp lists servers, their tools and what is wrong; prompts are sent as one message", async () => {
  const place = newPlace();
  const flags = withServers(place);
  const { env } = await emulatorOf({ steps: [says("First."), says("Second."), says("Third.")] });
  place.write("Rome", "must not be attached");
  const terminal = onTerminal(place, [...flags, "hello"], env);
  await terminal.shows("─ 1 request");
  await terminal.shows(PROMPT);
  terminal.type("/mcp");
  await terminal.shows("all connected, ");
  await terminal.shows("gone failed: there is no such program: throughline-has-no-such-program");
  await terminal.shows("To connect again: /mcp reconnect [NAME]");
  await terminal.shows(PROMPT);
  terminal.type("/mcp tools all");
  await terminal.shows("  echo");
  await terminal.shows(PROMPT);
  terminal.type("/mcp tools gon");
  await terminal.shows('there is no MCP server "gon"; did you mean');
  await terminal.shows(PROMPT);
  terminal.type("/mcp reconnect gone");
  await terminal.shows("Connecting to gone…");
  await terminal.shows("gone failed: there is no such program");
  await terminal.shows(PROMPT);
  terminal.type("/mcp list");
  await terminal.shows("use /mcp, /mcp reconnect [NAME] or /mcp tools NAME [usage]");
  await terminal.shows(PROMPT);
  terminal.type("/all:args-prompt");
  await terminal.shows("the prompt all:args-prompt needs city");
  await terminal.shows(PROMPT);
  terminal.type("/all:args-promt");
  await terminal.shows('the MCP server "all" has no prompt "args-promt"; did you mean');
  await terminal.shows(PROMPT);
  terminal.type("/al:args-prompt x");
  await terminal.shows('there is no MCP server "al"; did you mean');
  await terminal.shows(PROMPT);
  terminal.type("/gone:x");
  await terminal.shows('the MCP server "gone" has no prompt "x": gone failed: there is no such program');
  await terminal.shows(PROMPT);
  terminal.type("/all:args-prompt city=@Rome");
  await terminal.shows("Second.");
  await terminal.shows(PROMPT);
  terminal.type("/usr/bin:x is a path"); // a message
  await terminal.shows("Third.");
  await terminal.shows(PROMPT);
  terminal.type("/exit");
  const { code, screen } = await terminal.ended;
  expect(code).toBe(0);
  expectNoTrace({ out: screen, err: "" });
  const { events } = await onlyLog(place);
  const [, prompt, path] = eventsOf(events, "user_message");
  expect(prompt?.content).toEqual([{ type: "text", text: expect.stringContaining("@Rome") as string }]);
  expect(path?.content).toEqual([{ type: "text", text: "/usr/bin:x is a path" }]);
});

test("the line chat asks with the server, its tool and the exact arguments", async () => {
  const place = newPlace();
  const flags = withServers(place);
  const { env } = await emulatorOf({ steps: [callEcho("\u001B[2Jhi"), says("Done.")] });
  const terminal = onTerminal(place, [...flags, "go"], env);
  await terminal.shows("→ all/echo(");
  await terminal.shows('Allow execute: MCP server all, its tool echo, with {"message":');
  terminal.type("y");
  await terminal.shows("✓ all/echo: Echo:");
  await terminal.shows("Done.");
  await terminal.shows(PROMPT);
  terminal.type("/exit");
  expect((await terminal.ended).code).toBe(0);
});

test("a screen reader hears the same question in sentences", async () => {
  const place = newPlace();
  const flags = withServers(place);
  const { env } = await emulatorOf({ steps: [callEcho("hi"), says("Done.")] });
  const terminal = onTerminal(place, [...flags, "--screen-reader", "go"], env);
  await terminal.shows('Tool all/echo: {"message":"hi"}.');
  await terminal.shows(
    'Allow execute: MCP server all, its tool echo, with {"message":"hi"} ? Type 1 for yes',
  );
  terminal.type("2");
  await terminal.shows("Tool all/echo: denied");
  await terminal.shows("You: ");
  terminal.type("/exit");
  expect((await terminal.ended).code).toBe(0);
});

test("-p names tools of servers as people know them, also when it continues a session", async () => {
  const place = newPlace();
  const flags = withServers(place);
  const { env } = await emulatorOf({
    steps: [callEcho("hi"), says("One."), callEcho("again"), says("Two.")],
  });
  const first = await run(place, ["-p", ...flags, "--permissions", "auto", "go"], { env });
  expect([first.code, first.out]).toEqual([0, "One.\n"]);
  expect(first.err).toContain('→ all/echo({"message":"hi"})');
  expect(first.err).toContain("✓ all/echo: Echo: hi");
  const next = await run(place, ["-p", "-c", ...flags, "--permissions", "auto", "go on"], { env });
  expect(next.err).toContain("✓ all/echo: Echo: again");
});
