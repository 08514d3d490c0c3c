/** Holds a session as its writer until it is killed. Arguments: folder, id. */

import { fileStore } from "../../src/runtime/log/index.ts";

const [folder = "", id = ""] = process.argv.slice(2);
const log = await fileStore(folder).open(id, { mode: "write" });
await log.append([{ type: "notice", code: "test", message: "from the child" }]);
process.stdout.write(`holding ${process.pid}\n`);
setInterval(() => undefined, 60_000);
