/**
 * The floor: the minimum that any client must do. node:http, a splitter, JSON.parse of every event, JSON.stringify of every
 * request. It does not retry or check anything, and writes no log, except as much as ours did if that is measured.
 *
 * @module
 */
import {
  appendFileSync,
  closeSync,
  fdatasync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";

import { MODEL } from "../load/response.mjs";
import { TOOL, toolOutput } from "../load/scenarios.mjs";

const agent = new http.Agent({ keepAlive: true });
const sync = promisify(fdatasync);

const HEAD = {
  model: MODEL,
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  reasoning: { summary: "auto" },
  tools: [{ type: "function", ...TOOL, strict: false }],
};

/** The data of the events in a text stream. Chunks of an unfinished event are kept in a list and joined once. */
class Splitter {
  #pieces = [];
  #endsWithBreak = false;

  feed(chunk, take) {
    let at = 0;
    if (this.#endsWithBreak && chunk.startsWith("\n")) {
      take(this.#pieces.join(""));
      this.#pieces = [];
      at = 1;
    }
    for (let end = chunk.indexOf("\n\n", at); end !== -1; end = chunk.indexOf("\n\n", at)) {
      const last = chunk.slice(at, end);
      take(this.#pieces.length === 0 ? last : [...this.#pieces, last].join(""));
      this.#pieces = [];
      at = end + 2;
    }
    if (at < chunk.length) this.#pieces.push(chunk.slice(at));
    this.#endsWithBreak = chunk.endsWith("\n") && at < chunk.length;
  }
}

/** Takes the text of an answer chunk by chunk, and has the output at its end. */
class Answer {
  #splitter = new Splitter();
  #seen;
  output = [];

  constructor(seen) {
    this.#seen = seen;
  }

  feed(chunk) {
    this.#splitter.feed(chunk, (text) => this.#take(JSON.parse(text.slice(text.indexOf("data: ") + 6))));
  }

  #take(event) {
    switch (event.type) {
      case "response.output_text.delta":
        this.#seen.text += event.delta.length;
        this.#seen.onText?.(event.delta);
        break;
      case "response.reasoning_summary_text.delta":
        this.#seen.reasoning += event.delta.length;
        break;
      case "response.function_call_arguments.delta":
        this.#seen.arguments += event.delta.length;
        break;
      case "response.output_item.done":
        if (event.item.type === "function_call") this.#seen.calls += 1;
        break;
      case "response.completed":
        this.output = event.response.output;
        break;
    }
  }
}

/** The same with a fetch that the caller gives. */
async function postWith(fetch, url, body, seen) {
  const response = await fetch(`${url}/responses`, { method: "POST", body });
  const answer = new Answer(seen);
  const decoder = new TextDecoder();
  for await (const chunk of response.body) answer.feed(decoder.decode(chunk, { stream: true }));
  return answer.output;
}

function post(url, body, seen) {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/responses`, {
      agent,
      method: "POST",
      headers: { "content-type": "application/json", "content-length": body.length },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      const answer = new Answer(seen);
      response.setEncoding("utf8");
      response.on("error", reject);
      response.on("data", (chunk) => answer.feed(chunk));
      response.on("end", () => resolve(answer.output));
    });
    request.end(body);
  });
}

export async function createClient({
  store,
  folder,
  syncs = 0,
  logBytes = 0,
  steps = 0,
  calls: asked,
  streams,
}) {
  const requests = asked ?? streams ?? steps + 1;
  const disk = store === "file" ? new Disk(folder, { syncs, logBytes, requests }) : undefined;
  const respond = async (url, input, seen, fetch) => {
    await disk?.work();
    const body = Buffer.from(JSON.stringify({ ...HEAD, input }));
    const output = await (fetch === undefined ? post(url, body, seen) : postWith(fetch, url, body, seen));
    await disk?.work();
    return output;
  };
  const ask = async (url, seen) => {
    const output = await respond(url, [{ role: "user", content: "Begin." }], seen);
    seen.ciphertexts = () => output.flatMap((item) => item.encrypted_content ?? []);
  };
  return {
    ask,
    begin: () => disk?.begin(),
    prepare: async (url) => (seen) => ask(url, seen),
    async loop(url, seen, count, mark, fetch) {
      const outputs = Array.from({ length: count }, (_, step) => toolOutput(step));
      const input = [{ role: "user", content: "Begin." }];
      const all = [];
      for (let step = 0; ; step += 1) {
        const output = await respond(url, input, seen, fetch);
        all.push(...output);
        const calls = output.filter(({ type }) => type === "function_call");
        if (calls.length === 0) break;
        input.push(...output);
        for (const call of calls) {
          JSON.parse(call.arguments);
          mark();
          input.push({ type: "function_call_output", call_id: call.call_id, output: outputs[step] });
        }
      }
      seen.ciphertexts = () => all.flatMap((item) => item.encrypted_content ?? []);
    },
    async builder(items, more) {
      const build = (turn, stop) => {
        const next = { role: "user", content: "Go on." };
        const input = turn === 0 ? [...items, next] : [...items, next, ...more, next];
        const body = Buffer.from(JSON.stringify({ ...HEAD, input }));
        stop();
        return body;
      };
      return { build };
    },
    async openFile(file, _send, stop) {
      const events = statSync(file).size < LONGEST_TEXT ? parsedWhole(file) : parsedInPieces(file);
      stop();
      return { events: events.length };
    },
    async list(sessionsFolder, search) {
      const logs = readdirSync(sessionsFolder).filter((name) => name.endsWith(".jsonl"));
      const times = logs.map((name) => statSync(join(sessionsFolder, name)).mtimeMs);
      return search === undefined ? times.length : 0;
    },
  };
}

/** V8 has no longer strings. */
const LONGEST_TEXT = 512 * 2 ** 20 - 64;
const PIECE = 64 * 2 ** 20;

function parsedWhole(file) {
  return parsed(readFileSync(file, "utf8"));
}

function parsed(text) {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

function parsedInPieces(file) {
  const descriptor = openSync(file, "r");
  const events = [];
  const piece = Buffer.alloc(PIECE);
  let kept = 0;
  for (;;) {
    const read = readSync(descriptor, piece, kept, PIECE - kept, null);
    if (read === 0) break;
    const end = piece.lastIndexOf(10, kept + read - 1) + 1;
    for (const event of parsed(piece.toString("utf8", 0, end))) events.push(event);
    kept = piece.copy(piece, 0, end, kept + read);
  }
  closeSync(descriptor);
  return events;
}

/** Writes and syncs as much as ours did, evenly before and after each request. */
class Disk {
  #file;
  #piece;
  #syncs;
  #times;
  #asked = 0;
  #done = 0;
  #begun = false;

  constructor(folder, { syncs, logBytes, requests }) {
    this.#file = openSync(join(folder, "floor.log"), "a");
    this.#syncs = syncs;
    this.#times = 2 * requests;
    this.#piece = Buffer.alloc(Math.ceil(logBytes / Math.max(1, syncs)), 120);
  }

  begin() {
    this.#begun = true;
    this.#asked = 0;
    this.#done = 0;
  }

  async work() {
    if (!this.#begun) return;
    this.#asked += 1;
    const due = Math.round((this.#syncs * this.#asked) / this.#times);
    while (this.#done < due) {
      this.#done += 1;
      appendFileSync(this.#file, this.#piece);
      await sync(this.#file);
    }
  }
}
