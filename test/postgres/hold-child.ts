/**
 * A node that holds a session and appends what it is told to, one line of standard input each. Prints what became of it.
 * The test stops and continues it.
 */

import { createInterface } from "node:readline";

import { codeOf } from "../../src/base/support/index.ts";
import { postgresStore } from "../../src/runtime/postgres/index.ts";

const [url = "", session = "", name = "", lease = ""] = process.argv.slice(2);
const print = (text: string): void => void process.stdout.write(`${text}\n`);

const log = await postgresStore(url, { name, leaseMs: Number(lease) }).open(session, { mode: "write" });
log.lost.addEventListener("abort", () => print(`lost ${codeOf(log.lost.reason) ?? ""}`));
print("open");
for await (const message of createInterface({ input: process.stdin })) {
  try {
    await log.append([{ type: "notice", code: "test", message }]);
    print(`written ${message}`);
  } catch (error) {
    print(`refused ${codeOf(error) ?? ""}`);
  }
}
