/** Damaged logs, made from intact ones: the results of a crash, a bad disk, a later version or a manual edit. */
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

import { fileStore } from "../../src/index.ts";
import { toLine } from "../../src/inspect.ts";
import { chat, responses, session } from "./session.mjs";

const pathOf = (folder, id) => join(folder, `${id}.jsonl`);
const linesOf = (folder, id) => readFileSync(pathOf(folder, id), "utf8").split("\n").slice(0, -1);
const write = (folder, id, lines) => writeFileSync(pathOf(folder, id), `${lines.join("\n")}\n`);

/** Frames a line as the log does (docs/log-format.md). `open` has no closing brace. */
const framedOpen = (open) => `${open},"sum":"${crc32(Buffer.from(open)).toString(16).padStart(8, "0")}"}`;
const framed = (event) => framedOpen(toLine(event).slice(0, -1));
const reframed = (line) => framedOpen(line.slice(0, -',"sum":"00000000"}'.length));

export const damaged = {
  // In the middle and at the end. The log accepts them as if a later program had written them.
  "unknown-events-of-a-later-version": async (id, folder) => {
    copyFileSync(pathOf(folder, "responses-custom-call"), pathOf(folder, id));
    const log = await fileStore(folder).open(id, { mode: "write" });
    await log.append([
      { type: "weather_report", text: "sunny \u2028", big: 1e21, list: [1, { a: null }] },
      // An unknown field in a known event.
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
  // The next writer's result after a crash.
  "recovered-with-partial": (id, folder) => {
    for (const end of ["jsonl", "live"])
      copyFileSync(join(folder, `interrupted-with-journal.${end}`), join(folder, `${id}.${end}`));
    return session(id, folder, { model: responses() }, (_, { ask }) => ask("Thanks"));
  },
  "recovered-in-a-tool-loop": async (id, folder) => {
    copyFileSync(pathOf(folder, "torn-in-a-tool-loop"), pathOf(folder, id));
    await session(id, folder, { model: chat("emu-deepseek", "deepseek") }, (_, { ask }) => ask("Thanks"));
    for (const name of readdirSync(folder)) if (name.startsWith(`${id}.torn-`)) rmSync(join(folder, name));
    // The notice names the file that the tail was moved to, which is in a folder of the user who runs this.
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
  // One of its blobs is missing, and the content of another does not match its name.
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
