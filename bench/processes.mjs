/**
 * The processes of a run. All of them end with it: the server when its standard input closes, a sample through a signal.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const running = new Set();
const MAX_SAMPLE_MS = 240_000;

export function endAll() {
  for (const child of running) child.kill("SIGKILL");
}

export function here(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Runs a program and resolves to its output. Rejects with its standard error if it fails. */
export function runToEnd(command, args, { timeoutMs = MAX_SAMPLE_MS, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    running.add(child);
    const out = [];
    const errors = [];
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.stdout?.on("data", (chunk) => out.push(chunk));
    child.stderr?.on("data", (chunk) => errors.push(chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      const stdout = Buffer.concat(out).toString();
      if (code === 0) return resolve({ stdout, wallMs: performance.now() - from });
      const said = Buffer.concat(errors).toString().trim().split("\n").slice(-12).join("\n");
      const why = timedOut ? `took longer than ${timeoutMs / 1000} s` : (signal ?? `exit ${code}`);
      return reject(new Error(`${why}${said === "" ? "" : `\n${said}`}`));
    });
  });
}

export async function runSample(node, order) {
  const { stdout } = await runToEnd(node, ["--expose-gc", here("sample.mjs"), JSON.stringify(order)]);
  return JSON.parse(stdout);
}

/** Starts a process that ends with the run. */
export function start(command, args, options) {
  const child = spawn(command, args, options);
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

export async function startServer(node) {
  const child = start(node, [here("server.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(Number(data)));
    child.once("exit", () => reject(new Error("the server of the benchmark did not start")));
  });
  const base = `http://127.0.0.1:${port}`;
  return {
    base,
    prepare: (scenario) => fetch(`${base}/prepare/${scenario}`),
    seen: async (run) => (await fetch(`${base}/seen/${run}`)).json(),
    close: () => child.stdin.end(),
  };
}

/** Starts turn-server.mjs. Returns its resource usage and its HTTP API with the token. */
export async function startTurnServer(providerUrl) {
  const child = spawn(process.execPath, [here("turn-server.mjs"), providerUrl], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  running.add(child);
  child.on("close", () => running.delete(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  const { url, token } = await next();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return {
    url,
    token,
    async figures() {
      child.stdin.write("\n");
      return next();
    },
    async ask(path, body) {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const answer = await (await fetch(`${url}${path}`, { headers, ...init })).json();
      if (answer.error !== undefined) throw new Error(`${path}: ${answer.error.message}`);
      return answer;
    },
    end: () => child.stdin.end(),
  };
}
