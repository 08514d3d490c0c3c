/** Logs that something happened to, made of whole ones: what a crash, a bad disk, a later version or a person left. */
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

import { fileStore, toLine } from "../../src/index.ts";
import { chat, responses, session } from "./session.mjs";

const pathOf = (folder, id) => join(folder, `${id}.jsonl`);
const linesOf = (folder, id) => readFileSync(pathOf(folder, id), "utf8").split("\n").slice(0, -1);
const write = (folder, id, lines) => writeFileSync(pathOf(folder, id), `${lines.join("\n")}\n`);

/** As the log frames a line (docs/log-format.md); `open` is without its closing brace. */
const framedOpen = (open) => `${open},"sum":"${crc32(Buffer.from(open)).toString(16).padStart(8, "0")}"}`;
const framed = (event) => framedOpen(toLine(event).slice(0, -1));
const reframed = (line) => framedOpen(line.slice(0, -',"sum":"00000000"}'.length));

export const damaged = {
  // In the middle and at the end; the log takes them as it would from a later program.
  "unknown-events-of-a-later-version": async (id, folder) => {
    copyFileSync(pathOf(folder, "responses-custom-call"), pathOf(folder, id));
    const log = await fileStore(folder).open(id, { mode: "write" });
    await log.append([
      { type: "weather_report", text: "sunny \u2028", big: 1e21, list: [1, { a: null }] },
      // A field nobody knows, in an event everybody knows.
      { type: "title", title: "With more", colour: "red" },
    ]);
    await log.close();
    await session(id, folder, { model: responses() }, (_, { ask }) => ask("Thanks"));
    const lines = linesOf(folder, id);
    const { id: last, at, epoch } = JSON.parse(lines.at(-1));
    const other = {
      v: 7,
      seq: lines.length,
      id: `${last}x`,
      at,
      epoch,
      type: "title",
      title: "Of another format",
    };
    write(folder, id, [...lines, framed(other)]);
  },
  "torn-last-line": (id, folder) => {
    const bytes = readFileSync(pathOf(folder, "messages-plain"));
    writeFileSync(pathOf(folder, id), bytes.subarray(0, bytes.length - 40));
  },
  "torn-in-a-tool-loop": (id, folder) => {
    const lines = linesOf(folder, "chat-reasoning-content");
    const at = lines.findIndex((line) => JSON.parse(line).type === "tool_start");
    writeFileSync(pathOf(folder, id), `${lines.slice(0, at + 1).join("\n")}\n${lines[at + 1].slice(0, 90)}`);
  },
  // What the next writer makes of what a crash left.
  "recovered-with-partial": (id, folder) => {
    for (const end of ["jsonl", "live"])
      copyFileSync(join(folder, `interrupted-with-journal.${end}`), join(folder, `${id}.${end}`));
    return session(id, folder, { model: responses() }, (_, { ask }) => ask("Thanks"));
  },
  "recovered-in-a-tool-loop": async (id, folder) => {
    copyFileSync(pathOf(folder, "torn-in-a-tool-loop"), pathOf(folder, id));
    await session(id, folder, { model: chat("emu-deepseek", "deepseek") }, (_, { ask }) => ask("Thanks"));
    for (const name of readdirSync(folder)) if (name.startsWith(`${id}.torn-`)) rmSync(join(folder, name));
    // The notice says where the tail was moved to, and that is a folder of whoever runs this.
    const lines = linesOf(folder, id).map((line) =>
      line.includes(folder) ? reframed(line.replaceAll(folder, "/project/sessions")) : line,
    );
    write(folder, id, lines);
  },
  "damaged-line": (id, folder) => {
    const lines = linesOf(folder, "chat-openai").slice(0, 6);
    write(
      folder,
      id,
      lines.map((line) => line.replace("Rome", "Nome")),
    );
  },
  "missing-line": (id, folder) => {
    const lines = linesOf(folder, "chat-openai").slice(0, 6);
    write(folder, id, lines.toSpliced(2, 1));
  },
  "too-new": (id, folder) => {
    const [first, ...rest] = linesOf(folder, "chat-openai").slice(0, 6);
    const { sum: _sum, ...event } = JSON.parse(first);
    write(folder, id, [framed({ ...event, v: 2 }), ...rest]);
  },
  // One of its blobs is gone, another is not what its name says.
  "picture-and-file-lost": (id, folder) => {
    const from = "picture-and-file";
    copyFileSync(pathOf(folder, from), pathOf(folder, id));
    const blobs = join(folder, `${id}.blobs`);
    cpSync(join(folder, `${from}.blobs`), blobs, { recursive: true });
    const [one, two] = readdirSync(blobs).toSorted();
    rmSync(join(blobs, one));
    writeFileSync(join(blobs, two), "not what it was");
  },
};
