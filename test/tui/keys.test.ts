/** What keys do: no typed text is ever lost, and nothing is allowed by accident. */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { emulatorOf, eventsOf, expectAllAccepted, newPlace, onlyLog } from "../cli/harness.ts";
import { KEYS, onScreen, stalledAfter } from "./screen-harness.ts";

const SLOW = [{ output: [{ reasoning: ["**Choosing**\n\nOne of many."] }, { message: "First." }] }];

describe("while a turn runs", () => {
  test("messages are queued; Esc stops the turn and sends them; Ctrl+C holds them, Alt+Up takes them back", async () => {
    const place = newPlace();
    const { emulator, env } = await stalledAfter(SLOW, "One of");
    emulator.addFaults({ type: "stall", at: { where: "after", unit: "event", index: 2 } });
    const run = onScreen(place, ["go"], { env });
    await run.shows("▸ Choosing…");
    await run.say("second message");
    await run.shows("⋯ second message");
    await run.shows("Esc stops · 1 queued");
    run.press(KEYS.escape);
    await run.shows("■ Stopped.");
    await run.shows("› second message");
    await run.shows("▸ Thinking…");
    await run.say("third");
    await run.say("fourth");
    await run.shows("⋯ fourth");
    run.press("half a dra");
    await run.shows("❯ half a dra");
    run.press(KEYS.controlC);
    await run.shows("On hold: Enter to send them, Alt+Up to edit them");
    await run.until("the end of the turn", ({ screen }) => !screen.includes("● Working"));
    run.press(KEYS.altUp);
    await run.shows("❯ third");
    expect(run.screen).toContain("  fourth");
    expect(run.screen).toContain("  half a dra");
    run.press(KEYS.enter);
    await run.shows("You said: “third");
    await run.ready();
    await run.leave();
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual([
      "cancelled",
      "cancelled",
      "completed",
    ]);
    expect(eventsOf(events, "user_message").at(-1)?.content).toEqual([
      { type: "text", text: "third\n\nfourth\n\nhalf a dra" },
    ]);
    expectAllAccepted(emulator);
  });

  test("a second Ctrl+C exits; unsent text is shown and comes back with Up in the next process", async () => {
    const place = newPlace();
    const { env } = await stalledAfter(SLOW, "One of");
    const run = onScreen(place, ["go"], { env });
    await run.shows("▸ Choosing…");
    await run.say("queued words");
    await run.shows("⋯ queued words");
    run.press("typed words");
    await run.shows("❯ typed words");
    run.press(KEYS.controlC);
    await run.shows("Stopping. Press Ctrl+C again to exit.");
    run.press(KEYS.controlC);
    expect(await run.ended).toBe(0);
    expect(run.screen).toContain(
      "Not sent (press Up in the next chat to get it back):\n  queued words\n  typed words",
    );
    expect(run.screen).toMatch(/To continue: throughline -r s_/);
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled"]);
    const file = join(place.home, "input-history.jsonl");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const next = onScreen(place, [], { env });
    await next.ready();
    next.press(KEYS.up);
    await next.shows("❯ typed words");
    next.press(KEYS.up);
    await next.shows("❯ queued words");
    next.press(KEYS.controlC);
    await next.shows("Cleared; Up brings it back. Press Ctrl+C again to exit.");
    next.press(KEYS.controlC);
    expect(await next.ended).toBe(0);
  });
});

/** A call, and an answer after it. */
function ask(command: string): readonly object[] {
  return [
    { output: [{ function_call: { name: "run_command", arguments: { command } } }] },
    { output: [{ message: "After it." }] },
  ];
}

describe("a tool that needs permission", () => {
  test("asks in place of the input; Enter alone denies, a message is not an answer, y and Enter allow", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf({
      steps: [...ask("touch a"), ...ask("touch b"), ...ask("touch c")],
    });
    const run = onScreen(place, ["one"], { env });
    await run.shows("? Allow run_command (run)?");
    expect(run.screen).toContain("  command: touch a");
    expect(run.screen).toContain("→ a allows for this session: run_command:touch a");
    expect(run.screen).toContain("y + Enter allows · a + Enter for this session · Enter denies · Esc stops");
    expect(run.screen).toContain("? Run touch a · waits for your answer");
    run.press(KEYS.enter);
    await run.shows("✗ Run touch a · denied");
    await run.shows("After it.");
    await run.ready();
    await run.say("two");
    await run.shows("command: touch b");
    await run.say("why so many?"); // has a y in it, but is not an answer
    await run.shows("Press Tab to answer, Enter to queue your message");
    await run.shows("❯ why so many?");
    run.press(KEYS.enter);
    await run.shows("⋯ why so many?");
    run.press(KEYS.tab);
    await run.shows("y + Enter allows");
    run.press("y");
    await run.shows("❯ y");
    run.press(KEYS.enter);
    await run.shows("✓ Ran touch b");
    await run.shows("› why so many?");
    await run.shows("command: touch c");
    run.press(KEYS.escape);
    await run.shows("■ Stopped.");
    await run.ready();
    await run.leave();
    expect(["a", "b", "c"].map((name) => existsSync(join(place.work, name)))).toEqual([false, true, false]);
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "permission_decision").map(({ decision }) => decision)).toEqual([
      "deny",
      "allow",
    ]);
    expectAllAccepted(emulator);
  });

  test("shows long arguments to the end before they can be allowed, and the terminal obeys none of their bytes", async () => {
    const place = newPlace();
    const command = `echo ${"a ".repeat(2000)}\u001B[2J\u202Etxt.exe\r\ny\r\n? Allow nothing (read)?; touch made`;
    const { env } = await emulatorOf({ steps: ask(command) });
    const run = onScreen(place, ["go"], { env });
    await run.shows("scroll to the end first: ↓ PageDown · Enter denies");
    expect(run.rows[0]).not.toBe("");
    run.press("y");
    await run.shows("❯ y");
    run.press(KEYS.enter); // not everything was seen, so it shows the next page instead
    await run.until(
      "the next page",
      ({ screen }) => screen.includes("❯\n") || screen.includes("❯ \n") || /❯$/m.test(screen),
    );
    expect(existsSync(join(place.work, "made"))).toBe(false);
    for (let page = 0; page < 8 && !run.screen.includes("(end;"); page += 1) {
      const before = run.screen;
      run.press(KEYS.pageDown);
      await run.until("another page", ({ screen }) => screen !== before);
    }
    await run.shows("│ ? Allow nothing (read)?; touch made");
    expect(run.screen).toContain(String.raw`\u{1B}[2J\u{202E}txt.exe\u{D}`);
    expect(run.screen).toContain("y + Enter allows");
    run.press("y\r");
    await run.shows("After it.");
    expect(run.bytes).not.toContain("\u001B[2J");
    expect(run.bytes).not.toContain("\u202E");
    await run.leave();
  });
});

describe("the input", () => {
  test("sends text that was typed before the input was there", async () => {
    const { env } = await emulatorOf();
    const run = onScreen(newPlace(), [], { env });
    run.press("typed ahead\r");
    await run.shows("You said: “typed ahead”");
    await run.ready();
    expect(await run.leave()).toBe(0);
  });

  test("takes several lines, pastes, wide characters and Markdown, and sends exactly what was typed", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const run = onScreen(place, [], { env });
    await run.ready();
    run.press("日本語 👩‍🔬");
    await run.shows("日本語");
    expect(run.cursor.column).toBe(2 + 6 + 1 + 2);
    run.press(KEYS.altEnter);
    run.press("two");
    await run.shows("  two");
    run.press("\n");
    run.press("\u001B[200~three\r\n\tfour\u001B]0;x\u0007\u009B1m\u202E five\u001B[201~");
    await run.shows("four]0;x1m five");
    run.press(KEYS.enter);
    await run.shows("You said:");
    await run.ready();
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "user_message")[0]?.content).toEqual([
      { type: "text", text: "日本語 👩‍🔬\ntwo\nthree\n    four]0;x1m five" },
    ]);
    run.press(`\u001B[200~${"line\n".repeat(40)}end\u001B[201~`);
    await run.shows("[paste #1 +41 lines]");
    run.press(KEYS.enter);
    await run.until("the answer", ({ screen }) => /─ Worked[^]*\n❯/.test(screen));
    await run.leave();
    const sent = eventsOf((await onlyLog(place)).events, "user_message").at(-1)?.content;
    expect(sent).toEqual([{ type: "text", text: `${"line\n".repeat(40)}end` }]);
  });

  test("keeps the lines of a paste with a terminal's line ends, even if it arrives in two chunks", async () => {
    const place = newPlace();
    const { env } = await emulatorOf();
    const run = onScreen(place, [], { env });
    await run.ready();
    run.press("\u001B[200~one\rtwo\r");
    run.press("three\u001B[201~");
    await run.shows("  three");
    run.press(KEYS.enter);
    await run.shows("You said:");
    await run.ready();
    await run.leave();
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "user_message")[0]?.content).toEqual([{ type: "text", text: "one\ntwo\nthree" }]);
  });

  test("ignores on Enter a completion for a text that is no longer there", async () => {
    const { env } = await emulatorOf();
    const run = onScreen(newPlace(), [], { env });
    await run.ready();
    run.press("/re");
    await run.shows("give the session a title");
    run.press("name my new title\r");
    await run.shows("is now called “my new title”");
    expect(await run.leave()).toBe(0);
  });

  test("completes commands and files", async () => {
    const place = newPlace();
    place.write("package.json", "{}");
    place.write("other.txt", "");
    const { env } = await emulatorOf();
    const run = onScreen(place, [], { env });
    await run.ready();
    run.press("/ren");
    await run.shows("give the session a title");
    run.press(KEYS.tab);
    await run.shows("❯ /rename");
    run.press(" A better name");
    await run.shows("❯ /rename A better name");
    run.press(KEYS.enter);
    await run.shows("is now called “A better name”");
    run.press("read @pack");
    await run.shows("package.json");
    run.press(KEYS.tab);
    await run.shows("❯ read @package.json");
    run.press(KEYS.controlC);
    await run.shows("Cleared");
    run.press(KEYS.controlC);
    expect(await run.ended).toBe(0);
  });
});

test("Ctrl+Z changes nothing if no shell would wake the process again", async () => {
  const { env } = await emulatorOf();
  const run = onScreen(newPlace(), [], { env });
  await run.ready();
  run.press("half a ");
  await run.shows("❯ half a");
  run.press("\u001A");
  await run.until("the terminal taken again", ({ bytes }) => bytes.split("\u001B[?2004h").length === 3);
  run.press("message");
  await run.shows("❯ half a message");
  run.press(KEYS.enter);
  await run.shows("You said: “half a message”");
  await run.ready();
  expect(await run.leave()).toBe(0);
});
