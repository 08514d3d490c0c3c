/**
 * Creates the session that the row `open` opens, once per run and in its own process. Each sample gets a copy of the file.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { writeSession } from "./load/session-log.mjs";
import { runToEnd } from "./processes.mjs";

const STEPS_OF_A_TURN = 13;
const made = new Map();

/** The path of the file, and its number of events and steps. */
export async function fileStoreTemplate(node, { folder, library, events }) {
  const key = `${folder}/${events}`;
  if (!made.has(key)) {
    const self = fileURLToPath(import.meta.url);
    const order = { library, folder: join(folder, `template-${events}`), events };
    const { stdout } = await runToEnd(node, [self, JSON.stringify(order)]);
    made.set(key, { template: join(order.folder, "big.jsonl"), ...JSON.parse(stdout) });
  }
  return made.get(key);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { library, folder, events } = JSON.parse(process.argv[2]);
  const loaded = await import(library);
  const store = loaded.fileStore(folder);
  const written = await writeSession(loaded, {
    store,
    id: "big",
    steps: Infinity,
    events,
    perTurn: STEPS_OF_A_TURN,
  });
  process.stdout.write(JSON.stringify(written));
}
