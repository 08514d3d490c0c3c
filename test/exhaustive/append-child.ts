/**
 * Opens a session as its writer again and again, appends a few events each time and prints which were acknowledged.
 * Arguments: folder, a name for its messages. It never ends by itself.
 */

import { setTimeout as pause } from "node:timers/promises";

import { fileStore } from "../../src/runtime/log/index.ts";

const [folder = "", name = ""] = process.argv.slice(2);
const store = fileStore(folder);
for (let count = 0; ;) {
  try {
    const log = await store.open("s", { mode: "write" });
    for (let left = 3; left > 0; left -= 1, count += 1) {
      await log.append([{ type: "notice", code: "test", message: `${name} ${count}` }]);
      process.stdout.write(`acknowledged ${name} ${count}\n`);
    }
    await log.close();
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code !== "session_locked") process.stdout.write(`failed ${String(error)}\n`);
  }
  await pause(1); // the others want to write too
}
