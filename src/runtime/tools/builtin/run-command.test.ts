import { spawnSync } from "node:child_process";
import { getEventListeners } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { LIBRARY } from "../../../../test/support/built.ts";
import { codeOf, type JsonObject } from "../../../base/support/index.ts";
import { childEnvironment } from "./child-environment.ts";
import { CommandOutput } from "./command-output.ts";
import { runCommand, type RunCommandOptions } from "./run-command.ts";

let work: string;

beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "throughline-command-")));
});

afterEach(() => {
  rmSync(work, { recursive: true, force: true });
});

interface Run extends Omit<RunCommandOptions, "cwd"> {
  readonly signal?: AbortSignal;
  readonly progress?: (text: string) => void;
}

async function run(input: JsonObject, options: Run = {}): Promise<string> {
  const { signal = new AbortController().signal, progress = () => {}, ...rest } = options;
  const made = runCommand({ cwd: work, graceMs: 300, ...rest });
  return (await made.run(input, { signal, progress, callId: "c", idempotencyKey: "k" })) as string;
}

/** Resolves to the pid that a script wrote into a file, once it is there. */
async function pidFrom(name: string): Promise<number> {
  const path = join(work, name);
  return eventually(() => {
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    return text.endsWith("\n") ? Number(text) : undefined;
  });
}

async function eventually<Value>(read: () => Value | undefined): Promise<Value> {
  for (;;) {
    const value = read();
    if (value !== undefined) return value;
    await delay(5);
  }
}

/** A zombie still has a pid, but no longer runs. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** A killed process may close its output before it counts as dead. */
async function isGone(pid: number): Promise<void> {
  await eventually(() => (isRunning(pid) ? undefined : "gone"));
}

describe("a command that ends on its own", () => {
  test("reports both output streams and the exit code, in the working directory", async () => {
    expect(await run({ command: "pwd; exit 3" })).toBe(`${work}\n[exit code 3]`);
    expect(await run({ command: "echo problem >&2" })).toBe("problem\n[exit code 0]");
    expect(await run({ command: "true" })).toBe("[exit code 0]");
  });

  test("runs in bash, has no input, and reports a signal", async () => {
    expect(await run({ command: "[[ a == a ]] && cat; echo ${BASH_VERSION:+bash}" })).toBe(
      "bash\n[exit code 0]",
    );
    expect(await run({ command: "kill -SEGV $$" })).toBe("[ended by signal SIGSEGV]");
  });

  test("shows progress", async () => {
    const seen: string[] = [];
    await run({ command: "echo early" }, { progress: (text) => seen.push(text) });
    expect(seen).toEqual(["early\n"]);
  });

  test.each<[string, JsonObject, string]>([
    ["a NUL character", { command: "a\0b" }, "command_invalid"],
    ["a command too long for the system", { command: `: ${"x".repeat(4 * 1024 * 1024)}` }, "command_invalid"],
  ])("%s fails with a code", async (_, input, code) => {
    await expect(run(input)).rejects.toMatchObject({ code });
  });

  test("reports a missing bash", async () => {
    const failure = run({ command: "true" }, { env: { PATH: work } });
    await expect(failure).rejects.toMatchObject({ code: "command_failed" });
  });

  test("reports a missing working directory", async () => {
    const made = runCommand({ cwd: join(work, "gone") });
    const call = made.run(
      { command: "true" },
      { signal: new AbortController().signal, callId: "c", idempotencyKey: "k", progress: () => {} },
    );
    expect(await (call as Promise<unknown>).catch((error: unknown) => codeOf(error))).toBe("path_not_found");
  });
});

describe("a command that must be stopped", () => {
  test("is stopped on timeout together with its grandchildren", async () => {
    const command = "bash -c 'sleep 600 & echo $! > grandchild; wait' & echo $! > child; wait";
    // The timeout fires once both have started, however slow the machine is.
    const timeoutMs = 345_678;
    let timeIsOver: (() => void) | undefined;
    const real = globalThis.setTimeout;
    vi.spyOn(globalThis, "setTimeout").mockImplementation((then: () => void, ms?: number) => {
      if (ms === timeoutMs) timeIsOver = then;
      return real(then, ms);
    });
    const result = run({ command: `echo begun; ${command}`, timeoutMs });
    const pids = [await pidFrom("child"), await pidFrom("grandchild")];
    expect(pids.map(isRunning)).toEqual([true, true]);
    timeIsOver?.();
    expect(await result).toBe(
      "begun\n[timed out after 345678 ms; the command and all it started were ended]",
    );
    await Promise.all(pids.map(isGone));
  });

  test("is stopped on abort immediately and returns its output so far", async () => {
    const abort = new AbortController();
    const result = run(
      { command: "echo begun; sleep 600 & echo $! > child; wait" },
      { signal: abort.signal, graceMs: 60_000 },
    );
    const child = await pidFrom("child");
    expect(isRunning(child)).toBe(true);
    abort.abort();
    expect(await result).toBe("begun\n[cancelled; the command and all it started were ended]");
    await isGone(child);
  });

  test("does not start if the call is already aborted", async () => {
    const text = await run({ command: "touch started" }, { signal: AbortSignal.abort() });
    expect(text).toBe("[not started: the call was cancelled]");
    expect(existsSync(join(work, "started"))).toBe(false);
  });

  test("gets a chance to clean up first", async () => {
    const command = "trap 'echo cleaned; exit 0' TERM; echo $$ > self; while :; do sleep 0.05; done";
    const abort = new AbortController();
    const result = run({ command }, { signal: abort.signal, graceMs: 60_000 });
    await pidFrom("self");
    abort.abort();
    expect(await result).toMatch(/cleaned\n\[cancelled/);
  });

  test("may ignore SIGTERM but not SIGKILL, and neither may its grandchildren", async () => {
    const command = `trap '' TERM; bash -c 'trap "" TERM; echo $$ > grandchild; while :; do sleep 0.05; done' & wait`;
    const abort = new AbortController();
    const result = run({ command }, { signal: abort.signal, graceMs: 200 });
    const grandchild = await pidFrom("grandchild");
    abort.abort();
    expect(await result).toMatch(/cancelled/);
    await isGone(grandchild);
  });

  test("is stopped together with a background process that holds its output open", async () => {
    const text = await run({ command: "sleep 600 & echo $! > child; echo done", timeoutMs: 30_000 });
    expect(text).toBe("done\n[processes left in the background were ended]\n[exit code 0]");
    await isGone(await pidFrom("child"));
  });

  test("is not held up by a process that left the group", async () => {
    // It writes its pid after leaving the group; before that it would be stopped with the others.
    const command =
      "setsid bash -c 'echo $$ > child; exec sleep 6000' & until [ -s child ]; do :; done; echo done";
    const text = await run({ command });
    process.kill(await pidFrom("child"), "SIGKILL");
    expect(text).toBe("done\n[exit code 0]");
  });

  test("leaves no listener on the signal and no hook on the process", async () => {
    const before = process.listenerCount("exit");
    const { signal } = new AbortController();
    await run({ command: "true" }, { signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(process.listenerCount("exit")).toBe(before);
  });

  test("is killed when this process exits in the middle", async () => {
    const script = `
      import { builtinTools } from ${JSON.stringify(LIBRARY)};
      import { statSync } from "node:fs";
      const context = { signal: new AbortController().signal, callId: "c", idempotencyKey: "k", progress: () => {} };
      const runCommand = builtinTools({ cwd: ${JSON.stringify(work)} }).find(({ name }) => name === "run_command");
      void runCommand.run({ command: "sleep 600 & echo $! > child; wait" }, context);
      // The shell creates the file before it writes the pid.
      const written = () => statSync(${JSON.stringify(join(work, "child"))}, { throwIfNoEntry: false })?.size > 1;
      setInterval(() => written() && process.exit(7), 5);
    `;
    const result = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(result).toMatchObject({ status: 7, stderr: "" });
    const child = await pidFrom("child");
    await isGone(child);
  });
});

describe("the output", () => {
  test("keeps head and tail of a flood and counts the rest", async () => {
    const text = await run({ command: "echo HEAD; head -c 200000000 /dev/zero; echo TAIL" });
    expect(text.startsWith("HEAD\n")).toBe(true);
    expect(text.endsWith("TAIL\n[exit code 0]")).toBe(true);
    expect(text.length).toBeLessThan(1024 * 1024 + 200);
    const leftOut = Number(/\[… (\d+) bytes of output left out …\]/.exec(text)?.[1]);
    expect(leftOut).toBe(200_000_000 + 10 - 1024 * 1024);
  });

  test("is the same for any chunks, and nothing is lost uncounted", () => {
    const bytes = fc.uint8Array({ maxLength: 60, min: 97, max: 122 });
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(60), { maxLength: 6 }), (all, cuts) => {
        const whole = new CommandOutput({ maxHeadBytes: 10, maxTailBytes: 10 });
        whole.add(Buffer.from(all));
        const parts = new CommandOutput({ maxHeadBytes: 10, maxTailBytes: 10 });
        let at = 0;
        for (const cut of [...cuts.toSorted((a, b) => a - b), all.length]) {
          parts.add(Buffer.from(all.slice(at, cut)));
          at = Math.max(at, Math.min(cut, all.length));
        }
        const text = Buffer.from(all).toString();
        const expected =
          all.length <= 20
            ? text
            : `${text.slice(0, 10)}\n[… ${all.length - 20} bytes of output left out …]\n${text.slice(-10)}`;
        expect([whole.text(), parts.text()]).toEqual([expected, expected]);
      }),
    );
  });

  test("keeps a character whole that spans head and tail", () => {
    const output = new CommandOutput({ maxHeadBytes: 1, maxTailBytes: 10 });
    output.add(Buffer.from("é"));
    expect(output.text()).toBe("é");
  });
});

describe("the child's environment", () => {
  const env = {
    PATH: process.env["PATH"],
    HOME: "/home/someone",
    LC_ALL: "C",
    LC_MY_KEY: "sk-locale",
    OPENAI_API_KEY: "sk-1234567890",
    MY_FAVOURITE_COLOUR: "sk-other",
    TERM: "sk-1234567890",
    LANG: "prefix-sk-1234567890",
    BASH_ENV: "/evil",
    LD_PRELOAD: "/evil.so",
    NODE_OPTIONS: "--import=/evil.js",
  };

  test("contains what the allow-list permits, except known secrets under any name", () => {
    expect(childEnvironment(env, ["OPENAI_API_KEY"])).toEqual({
      PATH: env.PATH,
      HOME: "/home/someone",
      LC_ALL: "C",
    });
    expect(childEnvironment({ HOME: "x", TZ: "UTC" }, ["HOME"])).toEqual({ TZ: "UTC" });
    expect(childEnvironment({ TZ: undefined })).toEqual({});
  });

  test("is what the command really sees", async () => {
    const text = await run(
      { command: "env; cat /proc/self/environ" },
      { env, secretEnvNames: ["OPENAI_API_KEY"] },
    );
    expect(text).not.toMatch(/sk-|evil/);
    expect(text).toMatch(/HOME=\/home\/someone/);
  });

  test("contains no name outside the list, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (name) => {
        const passed = childEnvironment({ [`X${name}`]: "value" });
        expect(Object.keys(passed).filter((key) => !key.startsWith("XDG_"))).toEqual([]);
      }),
    );
  });
});
