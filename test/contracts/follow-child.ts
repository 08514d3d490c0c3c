/**
 * Creates a session, follows it as a reader and prints `following`. When a file `leave` appears it stops following,
 * prints `left`, and has nothing more to do. Arguments: folder, id.
 */

import { existsSync, watch } from "node:fs";
import { join } from "node:path";

import { fileStore } from "../../src/runtime/log/index.ts";

const [folder = "", id = ""] = process.argv.slice(2);
const store = fileStore(folder);
const writer = await store.open(id, { mode: "write" });
await writer.append([{ type: "notice", code: "test", message: "from the child" }]);
await writer.close();
const reader = await store.open(id, { mode: "read" });
const stop = new AbortController();
const look = watch(folder, { persistent: false }, () => {
  if (existsSync(join(folder, "leave"))) stop.abort();
});
for await (const { hasWriter } of reader.changes(stop.signal)) {
  process.stdout.write(`following ${hasWriter ? "a writer" : "nobody"}\n`);
}
look.close();
process.stdout.write("left\n");
