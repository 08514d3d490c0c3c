/**
 * The server of a benchmark run. It is a separate process and answers with prepared bytes, so that its cost is not
 * measured. `POST /SCENARIO/RUN/v1/responses` answers, `GET /prepare/SCENARIO` prepares the bytes, and `GET /seen/RUN`
 * returns what a run has sent. It ends when its standard input closes, so that no server is left behind.
 *
 * @module
 */
import { createServer } from "node:http";

import { itemsSent } from "./load/items-sent.mjs";
import { CLOCK, scenario } from "./load/scenarios.mjs";

const prepared = new Map();
const runs = new Map();
const CHUNK = 16 * 1024;

function prepare(name) {
  const known = prepared.get(name);
  if (known !== undefined) return known;
  const made = scenario(name);
  prepared.set(name, made);
  return made;
}

const server = createServer((request, response) => {
  const [, first, second, ...rest] = request.url.split("/");
  if (request.method === "POST" && rest.join("/") === "v1/responses") take(request, response, first, second);
  else if (first === "prepare") response.end(JSON.stringify({ answers: prepare(second).answers.length }));
  else if (first === "seen") response.end(seen(second));
  else response.writeHead(404).end();
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", 2048, () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));

function take(request, response, name, id) {
  const body = [];
  request.on("data", (chunk) => body.push(chunk));
  request.on("end", () => {
    let run = runs.get(id);
    if (run === undefined) runs.set(id, (run = { requests: 0, bytes: 0, lastBody: [], endedAt: [] }));
    const { answers } = prepare(name);
    const number = run.requests;
    // A run repeats its work to get warm; each round gets the same answers.
    const answer = answers[number % answers.length];
    run.requests += 1;
    for (const chunk of body) run.bytes += chunk.length;
    run.lastBody = body;
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const ended = () => {
      run.endedAt[number] = process.hrtime.bigint();
    };
    if (answer.pieces === undefined) pour(response, answer.bytes, ended);
    else streams.add(response, answer, ended);
  });
}

/** Sends as fast as the client reads. */
function pour(response, bytes, ended) {
  let at = 0;
  const more = () => {
    while (at < bytes.length) {
      const chunk = bytes.subarray(at, at + CHUNK);
      at += CHUNK;
      if (!response.write(chunk)) {
        response.once("drain", more);
        return;
      }
    }
    response.end(ended);
  };
  more();
}

/** Only deltas are paced. Events before the first one and after the last one are sent with them. */
function isDelta(piece) {
  return piece.includes(".delta\n");
}

/** One clock paces all streams. It has ten phases, so that not all of them send at the same moment. */
const streams = {
  timers: new Map(),
  count: 0,
  add(response, { pieces, paceMs, clock }, ended) {
    const phases = Math.max(1, Math.min(10, Math.floor(paceMs / 10)));
    const key = `${paceMs}/${this.count++ % phases}`;
    let lane = this.timers.get(key);
    if (lane === undefined) {
      lane = { open: new Set(), timer: undefined };
      this.timers.set(key, lane);
    }
    let at = 0;
    const one = {
      response,
      tick() {
        while (at < pieces.length && !isDelta(pieces[at])) response.write(pieces[at++]);
        if (at < pieces.length) {
          response.write(clock ? stamped(pieces[at]) : pieces[at]);
          at += 1;
        }
        if (at < pieces.length && isDelta(pieces[at])) return true;
        while (at < pieces.length) response.write(pieces[at++]);
        response.end(ended);
        return false;
      },
    };
    lane.open.add(one);
    response.on("close", () => lane.open.delete(one));
    lane.timer ??= setInterval(() => {
      for (const stream of lane.open) if (!stream.tick()) lane.open.delete(stream);
      if (lane.open.size > 0) return;
      clearInterval(lane.timer);
      lane.timer = undefined;
    }, paceMs);
  },
};

function stamped(piece) {
  const copy = Buffer.from(piece);
  copy.write(String(process.hrtime.bigint()).padStart(CLOCK.length, "0"), copy.indexOf(CLOCK), "latin1");
  return copy;
}

/** Parsed after the measurement. */
function seen(id) {
  const run = runs.get(id) ?? { requests: 0, bytes: 0, lastBody: [], endedAt: [] };
  runs.delete(id);
  const { requests, bytes, lastBody, endedAt } = run;
  const items = itemsSent(Buffer.concat(lastBody));
  return JSON.stringify({ requests, bytes, ...items, endedAt: endedAt.map(String) });
}
