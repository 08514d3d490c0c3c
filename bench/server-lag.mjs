/**
 * Does one server process keep its event loop free? 500 sessions run a turn each, with 20 deltas a second from a provider
 * in another process. A client in a third process follows every session. Prints the lag of the server's event loop
 * (`monitorEventLoopDelay`) while all of them stream, and whether its p99 is within 100 ms. An idle server is measured at
 * the same time: its lag is that of the machine, and if it is high, the run proves nothing. Needs `npm run build`.
 *
 *   node bench/server-lag.mjs [sessions=500] [seconds=25] [perSecond=20]
 *
 * @module
 */
import { spawn } from "node:child_process";
import { createServer, get } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { Random } from "./load/random.mjs";
import { ResponseWriter } from "./load/response.mjs";
import { startTurnServer } from "./processes.mjs";

const TARGET_MS = 100;
/** All turns begin within this time, and the last seconds of the first turns are not counted. */
const EDGE_MS = 5000;

if (process.argv[2] === "follow") follow(...process.argv.slice(3));
else await main(...process.argv.slice(2).map(Number));

async function main(sessions = 500, seconds = 25, perSecond = 20) {
  const provider = await startProvider((seconds + (2 * EDGE_MS) / 1000) * perSecond, 1000 / perSecond);
  const server = await startTurnServer(`http://127.0.0.1:${provider.address().port}/v1`);
  const idle = await startTurnServer(server.url);
  const ids = Array.from({ length: sessions }, (_, n) => `s${n}`);
  for (const id of ids) await server.ask("/api/sessions", { id });
  const followers = spawn(
    process.execPath,
    [fileURLToPath(import.meta.url), "follow", server.url, server.token, String(sessions)],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const counts = createInterface({ input: followers.stdout })[Symbol.asyncIterator]();
  const countDeltas = async () => {
    followers.stdin.write("\n");
    return Number((await counts.next()).value);
  };
  try {
    while ((await server.figures()).open < sessions) await pause(100);
    const from = performance.now();
    await Promise.all(
      ids.map(async (id, n) => {
        await pause((EDGE_MS * n) / sessions);
        await server.ask(`/api/sessions/${id}/turns`, { input: "Begin." });
      }),
    );
    const startMs = performance.now() - from;
    await Promise.all([server.figures(), idle.figures()]); // the measurement starts here
    const before = await countDeltas();
    const began = performance.now();
    await pause(seconds * 1000);
    const deltas = (await countDeltas()) - before;
    const elapsed = (performance.now() - began) / 1000;
    const { lagMs, workMs, cpuMs, rssMb, open, dropped } = await server.figures();
    const { lagMs: machine } = await idle.figures();
    const rate = deltas / elapsed;
    process.stdout.write(
      [
        `node ${process.version}, ${sessions} sessions x ${perSecond} deltas/s, one follower each, ${elapsed.toFixed(1)} s (all turns begun in ${(startMs / 1000).toFixed(1)} s)`,
        `event loop lag: p50 ${lagMs.p50.toFixed(1)} ms, p99 ${lagMs.p99.toFixed(1)} ms, max ${lagMs.max.toFixed(1)} ms (an idle process: p99 ${machine.p99.toFixed(1)} ms, max ${machine.max.toFixed(1)} ms)`,
        `its own work between two looks at the loop: p99 ${workMs.p99.toFixed(1)} ms, max ${workMs.max.toFixed(1)} ms of processor time`,
        `deltas received: ${rate.toFixed(0)}/s of ${sessions * perSecond}/s; server: ${(cpuMs / elapsed / 10).toFixed(0)} % of a core, ${rssMb.toFixed(0)} MB, ${open} streams open, ${dropped} dropped`,
        lagMs.p99 <= TARGET_MS ? "within the target" : `MISSED: p99 is above ${TARGET_MS} ms`,
        "",
      ].join("\n"),
    );
    process.exitCode = lagMs.p99 <= TARGET_MS ? 0 : 1;
  } finally {
    followers.stdin.end();
    server.end();
    idle.end();
    provider.close();
    provider.closeAllConnections();
  }
}

/** Answers every request with the same text, one delta at a time. One clock with ten phases paces all streams. */
async function startProvider(deltas, paceMs) {
  const writer = new ResponseWriter(new Random(11));
  writer.message(new Random(12).words(deltas));
  const pieces = writer.finishInPieces();
  const phases = Array.from({ length: 10 }, () => new Set());
  let count = 0;
  const provider = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const stream = { response, at: 0 };
      const phase = phases[count++ % phases.length];
      phase.add(stream);
      response.on("close", () => phase.delete(stream));
    });
  });
  let tick = 0;
  const clock = setInterval(() => {
    const phase = phases[tick++ % phases.length];
    for (const stream of phase) {
      stream.response.write(pieces[stream.at++]);
      if (stream.at < pieces.length) continue;
      phase.delete(stream);
      stream.response.end();
    }
  }, paceMs / phases.length);
  provider.on("close", () => clearInterval(clock));
  await new Promise((resolve) => {
    provider.listen(0, "127.0.0.1", 1024, resolve);
  });
  return provider;
}

/** In its own process: reads one stream of each session. A line on standard input requests the count. */
function follow(url, token, sessions) {
  let deltas = 0;
  for (let n = 0; n < Number(sessions); n += 1) {
    get(
      `${url}/api/sessions/s${n}/events`,
      { agent: false, headers: { authorization: `Bearer ${token}` } },
      (response) => {
        response.setEncoding("latin1");
        response.on("error", () => undefined);
        response.on("data", (text) => {
          for (let at = text.indexOf("_delta"); at !== -1; at = text.indexOf("_delta", at + 1)) deltas += 1;
        });
      },
    ).on("error", () => undefined);
  }
  createInterface({ input: process.stdin })
    .on("line", () => process.stdout.write(`${deltas}\n`))
    .on("close", () => process.exit(0));
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
