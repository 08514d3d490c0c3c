/**
 * Opens a session as its writer and prints `holding PID` or `refused CODE HOLDER`. A holder stays until it is killed.
 * Arguments: folder, id, and `once` to close the session again at once.
 */

import { fileStore } from "../../src/runtime/log/index.ts";

const [folder = "", id = "", once] = process.argv.slice(2);
try {
  const log = await fileStore(folder).open(id, { mode: "write" });
  await log.append([{ type: "notice", code: "test", message: "from the child" }]);
  process.stdout.write(`holding ${process.pid}\n`);
  if (once === "once") await log.close();
  else setInterval(() => undefined, 60_000);
} catch (error) {
  const { code = "", details } = error as { code?: string; details?: { holder?: string } };
  process.stdout.write(`refused ${code} ${details?.holder ?? ""}\n`);
}
