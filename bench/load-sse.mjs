/**
 * Load on the server: 200 clients on the event streams of 50 sessions that are always in a turn, 20 of them too slow.
 * Prints what the server process holds after the first minute and at the end. Run `npm run build` before.
 *
 *   node bench/load-sse.mjs [minutes=10] [clients=200] [sessions=50] [slow=20]
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [minutes = 10, clients = 200, sessions = 50, slow = 20] = process.argv.slice(2).map(Number);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = mkdtempSync(join(tmpdir(), "throughline-load-"));
const token = "load".repeat(16);
const cli = process.env.THROUGHLINE_CLI ?? join(root, "dist/cli/main.js");
/** A process of its own: it keeps every request it was sent, and that must not be counted. */
const emulator = spawn(process.execPath, [cli, "emulator", "--port", "0", "--quiet", "--pace", "12"], {
  stdio: ["ignore", "pipe", "ignore"],
});
const firstLine = (child) =>
  new Promise((resolve) => {
    child.stdout.once("data", (data) => resolve(String(data).trim()));
  });
const baseUrl = await firstLine(emulator);
const server = spawn(
  process.execPath,
  [cli, "serve", "--port", "0", "--permissions", "auto", "-m", "openai/emu-reasoner"],
  {
    cwd: home,
    env: {
      ...process.env,
      THROUGHLINE_HOME: home,
      THROUGHLINE_TOKEN: token,
      OPENAI_BASE_URL: baseUrl,
      OPENAI_API_KEY: "emulator",
    },
    stdio: ["ignore", "pipe", "inherit"],
  },
);
const first = await firstLine(server);
const port = Number(/:(\d+)\//.exec(first)[1]);
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

const counts = { events: 0, turns: 0, failed: 0, reconnects: 0, missing: 0 };
const running = new AbortController();

async function post(path, body) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return response.json();
}

/** Turns one after the other, for as long as it runs. */
async function keepBusy(id) {
  await post("/api/sessions", { id });
  while (!running.signal.aborted) {
    const { turn, error } = await post(`/api/sessions/${id}/turns`, {
      input: "Tell me something about rivers.",
    });
    if (error !== undefined) throw new Error(error.message);
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/api/sessions/${id}/turns/${turn}?wait=20`, {
        headers: { authorization: headers.authorization },
      });
      const { state, result } = await answer.json();
      if (state !== "done") continue;
      counts.turns += 1;
      if (result.status !== "completed") counts.failed += 1;
      break;
    }
  }
}

/** Reads a stream; a slow one reads a little and then nothing for a while. Comes back after the last event it has. */
function follow(id, isSlow, after = -1) {
  if (running.signal.aborted) return;
  let text = "";
  const asking = request(
    {
      port,
      host: "127.0.0.1",
      path: `/api/sessions/${id}/events?after=${after}`,
      headers: { authorization: headers.authorization },
    },
    (response) => {
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        text += piece;
        const frames = text.split("\n\n");
        text = frames.pop();
        for (const frame of frames) {
          const seq = /^id: (\d+)$/m.exec(frame)?.[1];
          counts.events += 1;
          if (seq === undefined) continue;
          if (Number(seq) !== after + 1) counts.missing += 1;
          after = Number(seq);
        }
        if (isSlow) {
          response.pause();
          setTimeout(() => response.resume(), 20_000);
        }
      });
      response.on("close", () => {
        counts.reconnects += 1;
        setTimeout(() => follow(id, isSlow, after), 500);
      });
      response.on("error", () => undefined);
    },
  );
  asking.on("error", () => setTimeout(() => follow(id, isSlow, after), 500));
  asking.end();
}

const memory = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1]) / 1024;
const files = () => /Threads:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1];

const busy = Array.from({ length: sessions }, (_, n) => keepBusy(`s${n}`));
setTimeout(() => {
  for (let n = 0; n < clients; n += 1) follow(`s${n % sessions}`, n < slow);
}, 2000);
const start = Date.now();
let afterOne;
const report = setInterval(() => {
  const at = (Date.now() - start) / 60_000;
  if (afterOne === undefined && at >= 1) afterOne = memory();
  process.stdout.write(
    `${at.toFixed(1)} min  RSS ${memory().toFixed(1)} MB  threads ${files()}  ${JSON.stringify(counts)}\n`,
  );
}, 15_000);
await Promise.race([new Promise((resolve) => setTimeout(resolve, minutes * 60_000)), Promise.all(busy)]);
clearInterval(report);
const last = memory();
process.stdout.write(
  `RSS after 1 min ${afterOne?.toFixed(1) ?? "?"} MB, after ${minutes} min ${last.toFixed(1)} MB, difference ${(last - (afterOne ?? last)).toFixed(1)} MB; ${JSON.stringify(counts)}\n`,
);
running.abort();
server.kill("SIGINT");
await new Promise((resolve) => {
  server.once("exit", resolve);
});
emulator.kill("SIGINT");
rmSync(home, { recursive: true, force: true });
process.exit(counts.missing > 0 || counts.failed > 0 ? 1 : 0);
