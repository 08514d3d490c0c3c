/**
 * Runs other programs so that Ctrl-C stops them and this program can still clean up. Each program has its own process
 * group: the terminal's signal reaches this process only, which then ends the whole group.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";

import { Interrupted, StepError, UsageError } from "./errors.mjs";

/** Lines of a failed program's output that its error message quotes. */
const QUOTED_LINES = 30;

/** Every running program, and whether it has its own process group. */
const running = new Map();
let stoppedBy;
let shielded = false;

/**
 * Starts a program. `group: false` leaves it in the terminal's process group, so that it can ask the user.
 *
 * @returns {import("node:child_process").ChildProcess}
 */
export function start(command, args, { cwd, env = process.env, stdio = "pipe", group = true } = {}) {
  if (stoppedBy !== undefined) throw new Interrupted(stoppedBy);
  const child = spawn(command, args, { cwd, env, stdio, detached: group });
  running.set(child, group);
  child.once("close", () => running.delete(child));
  return child;
}

/** Ends a program and, if it has its own group, everything it started. */
export function end(child, signal = "SIGTERM") {
  try {
    process.kill(running.get(child) === false ? child.pid : -child.pid, signal);
  } catch {
    // It has ended already.
  }
}

/**
 * Runs a program to its end and returns its output. Rejects if it fails.
 *
 * @returns {Promise<{ stdout: string, stderr: string }>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = start(command, args, options);
    let stdout = "";
    let stderr = "";
    child.stdin?.end();
    child.stdout?.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.once("error", (error) => reject(new StepError(`${command} did not start: ${error.message}`)));
    child.once("close", (code, signal) => {
      if (stoppedBy !== undefined) reject(new Interrupted(stoppedBy));
      else if (code === 0) resolve({ stdout, stderr });
      else reject(new StepError(failure(command, args, code ?? signal, stdout + stderr)));
    });
  });
}

function failure(command, args, how, output) {
  const lines = output.trimEnd().split("\n").slice(-QUOTED_LINES);
  return `${[command, ...args].join(" ")} ended with ${how}\n${lines.map((line) => `  ${line}`).join("\n")}`.trimEnd();
}

/**
 * Runs `work` and ignores Ctrl-C meanwhile: it takes less than a second and must not be left half done. `evenIfStopped`
 * runs it after a signal too, to undo something.
 */
export async function uninterrupted(work, { evenIfStopped = false } = {}) {
  const signal = stoppedBy;
  if (signal !== undefined && !evenIfStopped) throw new Interrupted(signal);
  stoppedBy = undefined;
  shielded = true;
  try {
    return await work();
  } finally {
    stoppedBy = signal;
    shielded = false;
  }
}

function stop(signal) {
  if (shielded) return;
  stoppedBy ??= signal;
  for (const child of running.keys()) {
    end(child);
    setTimeout(() => end(child, "SIGKILL"), 3000).unref();
  }
}

/** Runs a command's main function. Prints its errors without a stack trace and sets the exit code. */
export async function runMain(name, main) {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
  try {
    await main();
  } catch (error) {
    const known = [UsageError, StepError, Interrupted].some((kind) => error instanceof kind);
    process.stderr.write(
      `${name}: ${known ? error.message : `unexpected error: ${error?.stack ?? error}`}\n`,
    );
    process.exitCode = 1;
    if (error instanceof UsageError) process.exitCode = 2;
    if (error instanceof Interrupted) process.exitCode = 128 + constants.signals[error.signal];
  }
}
