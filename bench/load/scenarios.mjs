/**
 * The server's answers, by name ("mixed-20000"): the bytes, and the totals that a client's totals are compared with.
 *
 * @module
 */
import { Random } from "./random.mjs";
import { ResponseWriter } from "./response.mjs";

/** The only tool, used by every row. Its results are generated too. */
export const TOOL = {
  name: "read_file",
  description: "Reads a part of a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, line: { type: "integer" }, content: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
};

const makers = { tiny, mixed, text: longText, enc, args, loop, conc, lat };

/** Answers in the order of a run's requests. The last one is repeated. */
export function scenario(name) {
  const [kind, size] = name.split("-");
  const make = makers[kind];
  if (make === undefined) throw new Error(`there is no scenario "${name}"`);
  return make(Number(size ?? 0));
}

/** The expected totals of all answers of a scenario. */
export function truthOf(name) {
  const total = { text: 0, reasoning: 0, summaryParts: 0, arguments: 0, calls: 0, ciphertexts: [] };
  for (const { truth } of scenario(name).answers) {
    for (const key of ["text", "reasoning", "summaryParts", "arguments", "calls"]) total[key] += truth[key];
    total.ciphertexts.push(...truth.ciphertexts);
  }
  return total;
}

function answered(writer) {
  return { bytes: writer.finish(), truth: writer.truth };
}

function tiny() {
  const writer = new ResponseWriter(new Random(1));
  writer.message(["Hello", " there", "."]);
  return { answers: [answered(writer)] };
}

/** Eight rounds of a thought in two parts, a message and a call; about `events` events of about six characters. */
function mixed(events) {
  const random = new Random(2);
  const writer = new ResponseWriter(random);
  const unit = events / 8 / 2500;
  const share = (count) => Math.max(1, Math.round(count * unit) - 4);
  for (let round = 0; round < 8; round += 1) {
    const parts = [random.words(share(500)), random.words(share(500))];
    writer.reasoning(parts, random.base64(1200));
    writer.message(random.words(share(1000)));
    writer.call(TOOL.name, pieces(argumentsOf(random, share(475) * 5), 5));
  }
  return { answers: [answered(writer)] };
}

/** One message of `deltas` deltas. */
function longText(deltas) {
  const random = new Random(9);
  const writer = new ResponseWriter(random);
  writer.message(random.words(deltas));
  return { answers: [answered(writer)] };
}

/** One thought with a ciphertext of `size` bytes, followed by a word. */
function enc(size) {
  const random = new Random(3);
  const writer = new ResponseWriter(random);
  writer.reasoning([random.words(20)], random.base64(size));
  writer.message(random.words(20));
  return { answers: [answered(writer)] };
}

/** One call whose arguments arrive in deltas of ten characters. */
function args(size) {
  const random = new Random(4);
  const writer = new ResponseWriter(random);
  writer.call(TOOL.name, pieces(argumentsOf(random, size), 10));
  return { answers: [answered(writer)] };
}

/** A tool loop: a thought and a call in each step, a message in the last one. */
function loop(steps) {
  const random = new Random(5);
  const answers = [];
  for (let step = 0; step < steps; step += 1) {
    const writer = new ResponseWriter(random);
    const title = ["**", "读取", "文件", "**\n\n"];
    writer.reasoning([[...title, ...random.words(12)]], random.base64(1200));
    writer.call(TOOL.name, pieces(`{"path":"src/模块/file-${step}.ts","line":${step}}`, 5));
    answers.push(answered(writer));
  }
  const last = new ResponseWriter(random);
  last.message(random.words(10));
  answers.push(answered(last));
  return { answers };
}

/** `deltas` deltas, ten per second, each with the bytes of one event. */
function conc(deltas) {
  const writer = new ResponseWriter(new Random(6));
  writer.message(new Random(7).words(deltas));
  return { answers: [{ pieces: writer.finishInPieces(), truth: writer.truth, paceMs: 100 }] };
}

/** Each delta is the server's time, so that the client can compute its age. */
export const CLOCK = "0000000000000000000";

function lat(deltas) {
  const writer = new ResponseWriter(new Random(8));
  writer.message(Array.from({ length: deltas }, () => CLOCK));
  return { answers: [{ pieces: writer.finishInPieces(), truth: writer.truth, paceMs: 4, clock: true }] };
}

/** The tool's result in step n: about 600 characters, some of which take two bytes in memory. */
export function toolOutput(step) {
  const random = new Random(1000 + step);
  return `// 第 ${step} 部分\n${Array.from({ length: 110 }, () => random.asciiWord()).join("")}`;
}

/** JSON of exactly `size` characters, with the escapes of code in a string. */
function argumentsOf(random, size) {
  const head = '{"path":"src/generated/module.ts","content":"';
  const tail = '"}';
  let body = "";
  const lines = [];
  const room = size - head.length - tail.length;
  for (let length = 0; length < room; length += lines.at(-1).length) {
    const words = Array.from({ length: 8 }, () => random.asciiWord()).join("");
    lines.push(`  const value = \\"${words}\\";\\n`);
  }
  body = lines.join("").slice(0, Math.max(0, room));
  // The cut must not be inside an escape.
  if (/\\*$/.exec(body)[0].length % 2 === 1) body = `${body.slice(0, -1)}x`;
  return `${head}${body}${tail}`;
}

function pieces(text, length) {
  const all = [];
  for (let at = 0; at < text.length; at += length) all.push(text.slice(at, at + length));
  return all;
}
