/**
 * run_command: a shell command in its own process group. By its deadline the call ends with a text that shows the
 * output and how the command ended. No process of the group outlives the call, so a session leaves none behind.
 *
 * States: running → (exited | timed out | cancelled) → group ended → output closed. A command that has exited may have
 * left children that hold its output open; they get a moment, then they are ended too.
 */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { realpath } from "node:fs/promises";
import type { Readable } from "node:stream";

import {
  codedError,
  codeOf,
  messageOf,
  numberOf,
  stringOf,
  type ThroughlineError,
} from "../../../base/support/index.ts";
import { tool, type Tool, type ToolContext } from "../tool.ts";
import { childEnvironment } from "./child-environment.ts";
import { CommandOutput } from "./command-output.ts";
import { fileError } from "./file-error.ts";
import { endGroup, isGroupAlive, trackGroup } from "./process-group.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const GRACE_MS = 5_000;
const DRAIN_MS = 500;
const PROGRESS_INTERVAL_MS = 100;
const PROGRESS_BYTES = 2048;

export interface RunCommandOptions {
  /** All paths are confined to this directory, by real path. */
  readonly cwd: string;
  /** The environment from which the allow-list picks variables for commands. Default: this process's own. */
  readonly env?: Readonly<NodeJS.ProcessEnv> | undefined;
  /** Variables that hold provider keys: never passed on, even if the allow-list has the name. */
  readonly secretEnvNames?: readonly string[] | undefined;
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs?: number | undefined;
}

type Ending =
  | { readonly type: "exited"; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly type: "not_started"; readonly error: unknown }
  | { readonly type: "timed_out"; readonly timeoutMs: number }
  | { readonly type: "cancelled" };

export function runCommand(options: RunCommandOptions): Tool {
  const { graceMs = GRACE_MS } = options;
  return tool({
    name: "run_command",
    description:
      "Runs a bash command in the working directory and returns its output (stdout and stderr together) and exit code. " +
      "There is no input and no terminal. Background processes are ended when the command ends.",
    access: "execute",
    // The call's own limit must not expire before the longest timeout a model may request.
    timeoutMs: MAX_TIMEOUT_MS + graceMs + 10_000,
    input: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1 },
        timeoutMs: {
          type: "integer",
          minimum: 1,
          maximum: MAX_TIMEOUT_MS,
          description: `Default ${DEFAULT_TIMEOUT_MS}`,
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
    run: async (input, context) => {
      const command = stringOf(input["command"]) ?? "";
      if (command.includes("\0")) throw commandInvalid("it contains a NUL character");
      const cwd = await realpath(options.cwd).catch((error: unknown) => {
        throw fileError(error, ".");
      });
      if (context.signal.aborted) return "[not started: the call was cancelled]";
      const env = childEnvironment(options.env ?? process.env, options.secretEnvNames);
      const child = start(command, cwd, env);
      const timeoutMs = Math.min(numberOf(input["timeoutMs"]) ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
      return follow(child, context, { timeoutMs, graceMs });
    },
  });
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start(command: string, cwd: string, env: Record<string, string>): Child {
  try {
    return spawn("bash", ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw notStarted(error); // some failures are thrown, others arrive as an event
  }
}

async function follow(
  child: Child,
  context: ToolContext,
  limits: { readonly timeoutMs: number; readonly graceMs: number },
): Promise<string> {
  const ending = endingOf(child, context.signal, limits.timeoutMs);
  const { pid } = child;
  // If the system is out of file descriptors or processes, there is no child and no stdout.
  if (pid === undefined) return describe(await ending, new CommandOutput(), false);
  const output = collect(child, context.progress);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const forget = trackGroup(pid);
  try {
    const how = await ending;
    if (how.type === "exited") await within(DRAIN_MS, closed);
    const leftBehind = await isGroupAlive(pid);
    if (leftBehind) await endGroup(pid, limits.graceMs);
    // Only a process that left the group can still hold the output now; do not wait for it.
    await within(DRAIN_MS, closed);
    return describe(how, output, leftBehind);
  } finally {
    child.stdout.destroy();
    child.stderr.destroy();
    forget();
  }
}

/** Resolves with the first of: exit, failure to start, deadline, abort. Leaves no timer or listener behind. */
function endingOf(child: Child, signal: AbortSignal, timeoutMs: number): Promise<Ending> {
  return new Promise((resolve) => {
    const end = (ending: Ending): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(ending);
    };
    const onAbort = (): void => end({ type: "cancelled" });
    const timer = setTimeout(() => end({ type: "timed_out", timeoutMs }), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    child.once("exit", (code, by) => end({ type: "exited", code, signal: by }));
    child.on("error", (error) => end({ type: "not_started", error }));
  });
}

/** Collects stdout and stderr in order of arrival; shows live text at most ten times a second. */
function collect(child: Child, progress: ToolContext["progress"]): CommandOutput {
  const output = new CommandOutput();
  let shownAt = Number.NEGATIVE_INFINITY;
  const onData = (chunk: Buffer): void => {
    output.add(chunk);
    const now = performance.now();
    if (now - shownAt < PROGRESS_INTERVAL_MS) return;
    shownAt = now;
    progress(chunk.subarray(-PROGRESS_BYTES).toString("utf8"));
  };
  child.stdout.on("data", onData);
  child.stderr.on("data", onData);
  return output;
}

async function within(timeoutMs: number, event: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([event, timeout]);
  clearTimeout(timer);
}

function describe(ending: Ending, output: CommandOutput, leftBehind: boolean): string {
  const text = output.text();
  const lines = text === "" ? [] : [text.endsWith("\n") ? text.slice(0, -1) : text];
  switch (ending.type) {
    case "not_started":
      throw notStarted(ending.error);
    case "exited":
      if (leftBehind) lines.push("[processes left in the background were ended]");
      lines.push(
        ending.signal === null ? `[exit code ${ending.code}]` : `[ended by signal ${ending.signal}]`,
      );
      break;
    case "timed_out":
      lines.push(`[timed out after ${ending.timeoutMs} ms; the command and all it started were ended]`);
      break;
    case "cancelled":
      lines.push("[cancelled; the command and all it started were ended]");
      break;
  }
  return lines.join("\n");
}

function notStarted(error: unknown): ThroughlineError {
  if (codeOf(error) === "E2BIG") return commandInvalid("it is too long. Write it to a file and run that");
  return codedError("command_failed", `The command could not be started: ${messageOf(error)}.`, error);
}

function commandInvalid(problem: string): ThroughlineError {
  return codedError("command_invalid", `The command cannot be run: ${problem}.`);
}
