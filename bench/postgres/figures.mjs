/**
 * What the scripts of this folder share: percentiles, the built library, child processes, and the table at the end.
 *
 * @module
 */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { median } from "../statistics.mjs";

export { median };

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The product is measured as it is published. */
export async function library(path = "index.js") {
  const file = join(ROOT, "dist", path);
  if (!existsSync(file)) {
    process.stderr.write("there is no build yet: run `npm run build` first\n");
    process.exit(1);
  }
  return import(file);
}

export const COMMAND = join(ROOT, "dist/cli/main.js");

/** The smallest value that at least `part` of the values do not exceed. */
export function percentile(values, part) {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))];
}

export function latency(values) {
  return { count: values.length, p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
}

/** The median of one field over rounds. */
export function over(rounds, field) {
  return median(rounds.map(field).filter((value) => value !== undefined));
}

export function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export function number(value, digits) {
  if (value === undefined || Number.isNaN(value)) return "–";
  const places = digits ?? (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
  return value.toLocaleString("en-GB", { minimumFractionDigits: places, maximumFractionDigits: places });
}

export function machine() {
  return `Node ${process.version}, ${availableParallelism()} cores, load average ${loadavg()[0].toFixed(1)}`;
}

export function say(text) {
  process.stderr.write(`${text}\n`);
}

/**
 * Prints rows of figure, target, measured. A row with a target says whether it is met; a missed one makes the exit code 1.
 */
export function report(title, rows) {
  const cells = rows.map(({ figure, target = "", measured, met }) => [
    figure,
    target,
    measured,
    met === undefined ? "" : met ? "met" : "MISSED",
  ]);
  const table = [["figure", "target", "measured", ""], ["---", "---", "---", "---"], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column].length)));
  process.stdout.write(`\n${title}\n\n`);
  for (const row of table)
    process.stdout.write(`| ${row.map((cell, column) => pad(cell, widths[column])).join(" | ")} |\n`);
  if (rows.some(({ met }) => met === false)) process.exitCode = 1;
}

function pad(cell, width) {
  return cell === "---" ? "-".repeat(width) : cell.padEnd(width);
}

const children = new Set();

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

/**
 * Starts a script of this folder in its own process. `ask` sends a message and resolves to the answer to it; `said`
 * resolves to the next message that is no answer.
 */
export function start(script, args = [], options = {}) {
  const file = fileURLToPath(new URL(script, import.meta.url));
  // Without the loader for TypeScript: a child runs the built library, as a user does.
  const child = fork(file, args, {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    ...options,
  });
  children.add(child);
  const waiting = new Map();
  const unread = [];
  let readers = [];
  let asked = 0;
  const ended = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      children.delete(child);
      for (const { reject } of waiting.values()) reject(new Error(`${script} ended: ${signal ?? code}`));
      resolve({ code, signal });
    });
  });
  child.on("message", ({ answer, value, error }) => {
    const request = waiting.get(answer);
    waiting.delete(answer);
    if (request !== undefined)
      return error === undefined ? request.resolve(value) : request.reject(new Error(error));
    const [reader, ...others] = readers;
    readers = others;
    return reader === undefined ? unread.push(value) : reader(value);
  });
  return {
    pid: child.pid,
    child,
    ended,
    ask: (name, ...values) =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, { resolve, reject });
        child.send({ id: asked, name, values });
      }),
    said: () =>
      unread.length > 0
        ? Promise.resolve(unread.shift())
        : new Promise((resolve) => {
            readers.push(resolve);
          }),
    kill: (signal) => child.kill(signal),
  };
}

/** The other side of `start`: answers messages by calling the function of their name. */
export function serve(functions) {
  const answer = async ({ id, name, values }) => {
    try {
      process.send({ answer: id, value: await functions[name](...values) });
    } catch (error) {
      process.send({ answer: id, error: error.stack });
    }
  };
  process.on("message", (message) => void answer(message));
  process.on("disconnect", () => process.exit(0));
}

export function tell(value) {
  process.send({ value });
}
