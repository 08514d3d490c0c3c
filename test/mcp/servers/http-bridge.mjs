/**
 * Puts a server of standard input and output at an address (Streamable HTTP, earlier era), with the official package. Its
 * arguments are the program and its arguments. Prints `listening PORT`.
 */

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const [command, ...args] = process.argv.slice(2);
const inner = new StdioClientTransport({ command, args });
const outer = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
Object.assign(inner, { onmessage: (message) => void outer.send(message).catch(() => undefined) });
Object.assign(outer, { onmessage: (message) => void inner.send(message).catch(() => undefined) });
await inner.start();
await outer.start();
const server = createServer((request, response) => void outer.handleRequest(request, response));
server.listen(0, "127.0.0.1", () => process.stdout.write(`listening ${server.address().port}\n`));
process.stdin.resume().on("end", () => void inner.close().finally(() => process.exit(0)));
