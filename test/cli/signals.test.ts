/** Signals, and readers that stop reading: the turn ends once, the log is intact, the exit code says why. */

import { spawn } from "node:child_process";

import { describe, expect, test } from "vitest";

import type { Fault } from "../../src/emulator/index.ts";
import { afterFile } from "../support/clean-up.ts";
import {
  CLI,
  emulatorOf,
  environment,
  eventsOf,
  expectAllAccepted,
  expectNoTrace,
  newPlace,
  onlyLog,
  type Ran,
  run,
  start,
  toolsFile,
} from "./harness.ts";

const STALL: Fault = { type: "stall", at: { where: "after", unit: "event", index: 14 } };

/** A tool that says when it runs and when it is told to stop; stopping it takes as long as the test wants. */
const STUBBORN = `export const wait = tool({
  name: "wait_here", description: "d", access: "read", input: { type: "object" },
  run: (_, { signal, progress }) => new Promise((resolve) => {
    progress("running");
    const forever = setInterval(() => undefined, 1000);
    signal.addEventListener("abort", () => {
      progress("told to stop");
      if (process.env.OBEYS) { clearInterval(forever); resolve("stopped"); }
    });
  }),
});`;

describe("a signal in the middle of a turn", () => {
  test.for([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "%s while it thinks: one turn_end, exit %d, and the session can continue",
    async ([signal, exit]) => {
      const place = newPlace();
      const { emulator, env } = await emulatorOf({ faults: [STALL] });
      const running = start(place, ["-p", "--json", "Think of a number."], { env });
      await running.event("reasoning_delta");
      running.kill(signal);
      const ran = await running.ended;
      expect(ran).toMatchObject({ code: exit, signal: null, err: "" });
      expect(ran.out.trimEnd().split("\n").at(-1)).toContain('"type":"result","status":"cancelled"');
      const { events } = await onlyLog(place);
      expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled"]);
      expect(eventsOf(events, "response_end").map(({ status }) => status)).toEqual(["cancelled"]);
      expect(eventsOf(events, "partial")).toMatchObject([{ kind: "reasoning" }]);
      expect(events.at(-1)?.type).toBe("turn_end");
      expect(await run(place, ["-p", "-c", "hello"], { env })).toMatchObject({ code: 0 });
      expectAllAccepted(emulator);
    },
  );

  test("without --json it says so on stderr and prints no half answer", async () => {
    const place = newPlace();
    const { env } = await emulatorOf({ faults: [STALL] });
    const running = start(place, ["-p", "Think of a number."], { env });
    await running.seen(({ err }) => err.includes("· Choosing"), "a thought");
    running.kill("SIGINT");
    const ran = await running.ended;
    expect(ran).toMatchObject({ code: 130, out: "" });
    expect(ran.err).toMatch(/\nthroughline: the turn was cancelled\n$/);
  });

  test("SIGINT while a tool runs: the tool gets the signal, its result is recorded, the process exits", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    const file = toolsFile(place, STUBBORN);
    const running = start(place, ["-p", "--json", "--tools", file, "please wait_here"], {
      env: { ...env, OBEYS: "1" },
    });
    await running.seen(({ out }) => out.includes('"text":"running"'), "the tool running");
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "tool_result").map(({ status }) => status)).toEqual(["cancelled"]);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled"]);
    expect(await run(place, ["-p", "-c", "--tools", file, "hello"], { env })).toMatchObject({ code: 0 });
    expectAllAccepted(emulator);
  });

  test("a second SIGINT ends the process at once, whatever a tool does; the session can be resumed", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    const file = toolsFile(place, STUBBORN);
    const running = start(place, ["-p", "--json", "--tools", file, "please wait_here"], { env });
    await running.seen(({ out }) => out.includes('"text":"running"'), "the tool running");
    running.kill("SIGINT");
    await running.seen(({ out }) => out.includes('"text":"told to stop"'), "the tool being told");
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130, signal: null });
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "tool_start")).toHaveLength(1);
    expect(eventsOf(events, "turn_end")).toEqual([]);
    expect(await run(place, ["-p", "-c", "--tools", file], { env })).toMatchObject({ code: 0 });
    expect(eventsOf((await onlyLog(place)).events, "tool_result").map(({ status }) => status)).toEqual([
      "outcome_unknown",
    ]);
    expectAllAccepted(emulator);
  });
});

describe("SIGHUP ends what runs until it is stopped, with everything saved", () => {
  test.concurrent.for([
    ["serve", ["serve", "--port", "0"]],
    ["emulator", ["emulator", "--port", "0"]],
  ] as const)("%s", async ([, args]) => {
    const running = start(newPlace(), [...args]);
    await running.seen(({ out }) => out.endsWith("\n"), "its address");
    running.kill("SIGHUP");
    const ran = await running.ended;
    expect(ran).toMatchObject({ code: 129, signal: null });
    expectNoTrace(ran);
  });

  test("a chat in the middle of a turn", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf({ faults: [STALL] });
    const script = `sh -c 'echo $$ > pid; exec "$NODE" "$CLI" "Think of a number."'; echo $? > code`;
    const child = spawn("script", ["-qec", script, "/dev/null"], {
      cwd: place.work,
      env: environment(place, { ...env, TERM: "dumb", NODE: process.execPath, CLI }),
    });
    afterFile(() => child.kill("SIGKILL"));
    let screen = "";
    const ended = new Promise((resolve) => child.on("close", resolve));
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (text) => {
        screen += String(text);
        if (screen.includes("· Choosing")) resolve();
      });
    });
    process.kill(Number(place.read("pid")), "SIGHUP");
    await ended;
    expect(place.read("code")).toBe("129\n");
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled"]);
    expect(await run(place, ["-p", "-c", "hello"], { env })).toMatchObject({ code: 0 });
    expectAllAccepted(emulator);
  });
});

/** Runs the command in a shell pipe; the exit code is the command's own. */
function piped(place: ReturnType<typeof newPlace>, pipe: string, env: Readonly<Record<string, string>>) {
  return new Promise<Ran>((resolve, reject) => {
    const script = `"$NODE" "$CLI" ${pipe}; echo "exit \${PIPESTATUS[0]}" >&2`;
    const child = spawn("bash", ["-c", script], {
      cwd: place.work,
      env: environment(place, { ...env, NODE: process.execPath, CLI }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (text) => (out += String(text)));
    child.stderr.on("data", (text) => (err += String(text)));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
}

describe("a reader that stops reading is not an error", () => {
  test("stdout (--json | head -1): quiet, exit 0, an intact log that can continue", async () => {
    const place = newPlace();
    // Long enough not to end before the reader has stopped, on any machine.
    const { env } = await emulatorOf({ paceMs: 5, steps: [{ output: [{ message: "word ".repeat(6000) }] }] });
    const ran = await piped(place, "-p --json 'Write a long answer.' | head -1", env);
    expect(ran.out).toMatch(/^\{"v":1,"type":"session"[^\n]*\n$/);
    expect(ran.err).toBe("exit 0\n");
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "user_message")).toHaveLength(1);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled"]);
    expect(events.at(-1)?.type).toBe("turn_end");
    // The reader may stop before the request; then the long answer would still be pending.
    const next = await emulatorOf();
    expect(await run(place, ["-p", "-c", "hello"], { env: next.env })).toMatchObject({ code: 0 });
    expectAllAccepted(next.emulator);
  });

  test("stdout in the middle of the answer (| head -c 10): the turn is cancelled, once, and the written part is kept", async () => {
    const place = newPlace();
    const { env } = await emulatorOf({ paceMs: 5, steps: [{ output: [{ message: "word ".repeat(6000) }] }] });
    const ran = await piped(place, "-p go 2>/dev/null | head -c 10", env);
    expect(ran).toMatchObject({ out: "word word ", err: "exit 0\n" });
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["cancelled"]);
    expect(eventsOf(events, "partial")).toMatchObject([{ kind: "text" }]);
  });

  test("stderr (2>&1 >/dev/null | head -1): quiet, exit 0, an intact log", async () => {
    const place = newPlace();
    const output = [{ reasoning: ["**One**\n\nA.", "**Two**\n\nB."] }, { message: "word ".repeat(50) }];
    const { env } = await emulatorOf({ paceMs: 10, steps: [{ output }] });
    const ran = await piped(place, "-p 'Write a long answer.' 2>&1 >/dev/null | head -1", env);
    expect(ran.out).toMatch(/^openai\/emu-reasoner · session s_\w+\n$/);
    expect(ran.err).toBe("exit 0\n");
    expectNoTrace(ran);
    // The answer is still wanted: only its progress is not read.
    const ends = eventsOf((await onlyLog(place)).events, "turn_end");
    expect(ends.map(({ status }) => status)).toEqual(["completed"]);
  });
});
