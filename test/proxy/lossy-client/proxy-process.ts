/**
 * The proxy as a process of its own, to be killed: `node --import tsx proxy-process.ts URL LEDGER`. Prints its address.
 *
 * @module
 */

import { startProxy } from "../../../src/proxy/relay/index.ts";

const [to = "", ledger = ""] = process.argv.slice(2);
const proxy = await startProxy({ to, port: 0, mode: "repair", ledger });
process.stdout.write(`${proxy.url}\n`);
