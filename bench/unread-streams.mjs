/**
 * Measures how much clients that open a session's event stream and never read it slow down a turn of that session. Turns
 * with and without such clients alternate; the result is the ratio of the medians. Needs `npm run build`.
 *
 *   node bench/unread-streams.mjs [readers=200] [deltas=5000] [rounds=5]
 *
 * @module
 */
import { createServer } from "node:http";
import { connect } from "node:net";

import { Random } from "./load/random.mjs";
import { ResponseWriter } from "./load/response.mjs";
import { startTurnServer } from "./processes.mjs";
import { median } from "./statistics.mjs";

const [readers = 200, deltas = 5000, rounds = 5] = process.argv.slice(2).map(Number);

const writer = new ResponseWriter(new Random(9));
writer.message(new Random(10).words(deltas));
const bytes = writer.finish();
const provider = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(bytes);
  });
});
await new Promise((resolve) => {
  provider.listen(0, "127.0.0.1", resolve);
});
const server = await startTurnServer(`http://127.0.0.1:${provider.address().port}/v1`);

function openUnread(id) {
  const { hostname, port, host } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  socket.on("error", () => undefined); // the server drops it, because it does not read
  socket.write(
    `GET /api/sessions/${id}/events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${server.token}\r\n\r\n`,
  );
  return socket;
}

async function streamsOpen(count) {
  while ((await server.figures()).open !== count) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function sample(id, count) {
  await server.ask("/api/sessions", { id });
  const sockets = Array.from({ length: count }, () => openUnread(id));
  await streamsOpen(count);
  const from = performance.now();
  const { turn } = await server.ask(`/api/sessions/${id}/turns`, { input: "Begin." });
  let state;
  do state = await server.ask(`/api/sessions/${id}/turns/${turn}?wait=30`);
  while (state.state !== "done");
  const wallMs = performance.now() - from;
  const { cpuMs, rssMb, dropped } = await server.figures();
  if (state.result.status !== "completed") throw new Error(`the turn ended ${state.result.status}`);
  for (const socket of sockets) socket.destroy();
  await streamsOpen(0);
  return { wallMs, cpuMs, rssMb, dropped };
}

await sample("warm-0", 0);
await sample("warm-1", readers);
const alone = [];
const beside = [];
for (let round = 0; round < rounds; round += 1) {
  alone.push(await sample(`a${round}`, 0));
  beside.push(await sample(`b${round}`, readers));
}
const of = (samples, key) => median(samples.map((one) => one[key]));
const row = (name, key, unit) => {
  const [low, high] = [of(alone, key), of(beside, key)];
  return `${name}: ${low.toFixed(0)} ${unit} alone, ${high.toFixed(0)} ${unit} with them, ratio ${(high / low).toFixed(2)}\n`;
};
process.stdout.write(
  `node ${process.version}, a turn of ${deltas} deltas with ${readers} unread streams, median of ${rounds}\n${row("wall", "wallMs", "ms")}${row("processor", "cpuMs", "ms")}${row("memory", "rssMb", "MB")}`,
);
server.end();
provider.close();
provider.closeAllConnections();
