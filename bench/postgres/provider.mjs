/**
 * A provider for the nodes of a measurement. The last message says what it answers: "stream NAME" gets a text that goes
 * on for minutes, "ask NAME" a call that needs a permission, anything else and every result of a call a short text. It
 * notes down when each request came and when its client left, by name.
 *
 * @module
 */
import { createServer } from "node:http";

import { Random } from "../load/random.mjs";
import { ResponseWriter } from "../load/response.mjs";

/** The text of "stream" has so many deltas, one every `paceMs`. */
export async function startProvider({ deltas = 4000, paceMs = 50 } = {}) {
  const waiting = new Set();
  const noted = [];
  const streams = new Set();
  const long = piecesOf((writer) => writer.message(new Random(12).words(deltas)));
  let seed = 100;
  const note = (kind, name) => {
    const entry = { kind, name, at: performance.now() };
    noted.push(entry);
    for (const wait of waiting) wait(entry);
  };
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString());
      const [what, name] = asked(input);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.on("close", () => note("left", name));
      note("request", name);
      const isShort = input.at(-1).type === "function_call_output" || (what !== "stream" && what !== "ask");
      if (isShort || what === "ask") {
        const fill = isShort ? (writer) => writer.message(["Done."]) : callOf(name);
        response.end(piecesOf(fill, seed++).reduce(joined));
        return;
      }
      const stream = { response, at: 0 };
      streams.add(stream);
      response.on("close", () => streams.delete(stream));
    });
  });
  const clock = setInterval(() => {
    for (const stream of streams) {
      stream.response.write(long[stream.at++]);
      if (stream.at < long.length) continue;
      streams.delete(stream);
      stream.response.end();
    }
  }, paceMs);
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", 1024, resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    get streams() {
      return streams.size;
    },
    /** Resolves to the time of the first such note after `since`, noted already or still to come. */
    noted: (kind, name, since = 0) => {
      const fits = (entry) => entry.kind === kind && entry.name === name && entry.at > since;
      const known = noted.find(fits);
      if (known !== undefined) return Promise.resolve(known.at);
      return new Promise((resolve) => {
        const wait = (entry) => {
          if (!fits(entry)) return;
          waiting.delete(wait);
          resolve(entry.at);
        };
        waiting.add(wait);
      });
    },
    count: (kind, name) => noted.filter((entry) => entry.kind === kind && entry.name === name).length,
    close() {
      clearInterval(clock);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The words of the last message of a person. */
function asked(input) {
  const { content } = input.findLast(({ role }) => role === "user");
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
  return text.split(" ");
}

function callOf(name) {
  const args = JSON.stringify({ path: `${name}.txt`, content: name });
  return (writer) => writer.call("write_file", [args]);
}

function piecesOf(fill, seed = 11) {
  const writer = new ResponseWriter(new Random(seed));
  fill(writer);
  return writer.finishInPieces();
}

function joined(all, piece) {
  return Buffer.concat([all, piece]);
}
