/**
 * Creates the sessions that samples begin with, once per run and build, each in its own process, so that creating them
 * warms nothing that is measured. A template is a log file, the drafts of a session for the memory store, or a folder of
 * many small sessions. Each build writes its own: an earlier build need not be able to read a later log.
 *
 * @module
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { sessionDrafts, writeSession } from "./load/session-log.mjs";
import { runToEnd } from "./processes.mjs";

const STEPS_OF_A_TURN = 13;
const made = new Map();

/** Resolves to { path, ...facts }. `what` is { make, ...size }; equal ones are made once per folder and build. */
export async function templateOf(node, { folder, library, what }) {
  const key = JSON.stringify([folder, library, what]);
  if (!made.has(key)) {
    const self = fileURLToPath(import.meta.url);
    const order = { ...what, library, folder: join(folder, `template-${made.size}`) };
    const { stdout } = await runToEnd(node, [self, JSON.stringify(order)]);
    made.set(key, JSON.parse(stdout));
  }
  return made.get(key);
}

/** The steps of a history with this many items. */
function stepsOf(items) {
  return Math.floor((items - 1) / 3);
}

const makers = {
  /** A log of `events` events in turns of some steps, or of `items` items in one turn. */
  async log(library, { folder, events, items }) {
    const shape =
      items === undefined ? { steps: Infinity, events, perTurn: STEPS_OF_A_TURN } : { steps: stepsOf(items) };
    const store = library.fileStore(folder);
    const written = await writeSession(library, { store, id: "big", ...shape });
    return { path: join(folder, "big.jsonl"), ...written };
  },

  /** One batch of drafts per line. */
  async drafts(library, { folder, items }) {
    const lines = [];
    for await (const batch of sessionDrafts(library, { steps: stepsOf(items) }))
      lines.push(JSON.stringify(batch));
    mkdirSync(folder, { mode: 0o700 });
    const path = join(folder, "drafts.jsonl");
    writeFileSync(path, lines.join("\n"));
    return { path };
  },

  /** Sessions of five turns, listed once, so that each has what lists show of it. */
  async folder(library, { folder, sessions }) {
    const { createAgent, emulator, fileStore } = library;
    mkdirSync(folder, { mode: 0o700 });
    const session = await createAgent({ model: emulator() }).open({ id: "a", store: fileStore(folder) });
    for (let turn = 0; turn < 5; turn += 1) await session.send("Hello").text();
    await session.rename("One of many");
    await session.close();
    const bytes = readFileSync(join(folder, "a.jsonl"));
    rmSync(folder, { recursive: true });
    mkdirSync(folder, { mode: 0o700 });
    for (let n = 0; n < sessions; n += 1)
      writeFileSync(join(folder, `s_${String(n).padStart(8, "0")}.jsonl`), bytes, { mode: 0o600 });
    let listed = 0;
    for await (const { problem } of fileStore(folder).list()) {
      if (problem !== undefined) throw new Error(problem);
      listed += 1;
    }
    return { path: folder, sessions: listed };
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { library, make, ...order } = JSON.parse(process.argv[2]);
  const answer = await makers[make](await import(library), order);
  process.stdout.write(JSON.stringify(answer), () => process.exit(0));
}
