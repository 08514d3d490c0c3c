/**
 * One `throughline serve` on a shared store, as an operator starts it, and the requests to it.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { MODEL } from "../load/response.mjs";
import { COMMAND, pause } from "./figures.mjs";

const TOKEN = "bench".repeat(8);
const running = new Set();

process.on("exit", () => {
  for (const { child, folder } of running) {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});

/** `directUrl` is the address for LISTEN. */
export async function startNode(name, { url, provider, directUrl, leaseMs, drain = 0, permissions = "ask" }) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  const lease = leaseMs === undefined ? [] : ["--lease", String(leaseMs)];
  const args = [
    "serve",
    "--port",
    "0",
    "--pool",
    "bench",
    "--drain",
    String(drain),
    "--node-name",
    name,
    ...lease,
  ];
  const child = spawn(
    process.execPath,
    [COMMAND, ...args, "--permissions", permissions, "-m", `openai/${MODEL}`, "-C", folder],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        THROUGHLINE_STORE: url,
        THROUGHLINE_TOKEN: TOKEN,
        OPENAI_API_KEY: "bench",
        OPENAI_BASE_URL: provider.url,
        ...(directUrl === undefined ? {} : { THROUGHLINE_STORE_DIRECT: directUrl }),
      },
    },
  );
  const entry = { child, folder };
  running.add(entry);
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const ended = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      running.delete(entry);
      rmSync(folder, { recursive: true, force: true });
      resolve({ code, signal });
    });
  });
  const lines = createInterface({ input: child.stdout });
  const link = await Promise.race([
    new Promise((resolve) => {
      lines.once("line", resolve);
    }),
    ended.then(() => {
      throw new Error(`serve ended: ${said}`);
    }),
  ]);
  const { origin } = new URL(link);
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const ask = async (path, body) => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${origin}/api${path}`, { headers, ...init });
    const answer = await response.json();
    if (response.status >= 400) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const node = {
    name,
    pid: child.pid,
    origin,
    headers,
    ended,
    ask,
    said: () => said,
    /** The log of a session so far. */
    events: async (id) => {
      const response = await fetch(`${origin}/api/sessions/${id}/log`, { headers });
      return (await response.text()).split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    },
    signal: (signal) => child.kill(signal),
    ready: async () => (await fetch(`${origin}/readyz`)).status === 200,
  };
  while (!(await node.ready())) await pause(50);
  return node;
}
