/**
 * A server of the earlier era that asks a question in each call, and never says which call it asks for. It asks when as
 * many calls wait as the plan says, and answers each call with what it was told.
 */

import { createInterface } from "node:readline";

const { calls: wanted } = JSON.parse(process.argv[2] ?? "{}");
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = [];
const requestedSchema = { type: "object", properties: { name: { type: "string" } } };

const answers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "asking", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "ask", inputSchema: { type: "object", properties: {} } }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, result } = JSON.parse(line);
  if (method === undefined)
    send({ id: waiting[id], result: { content: [{ type: "text", text: result.action }] } });
  else if (method === "tools/call") {
    waiting.push(id);
    if (waiting.length < wanted) return;
    for (const place of waiting.keys())
      send({ id: place, method: "elicitation/create", params: { message: "Who?", requestedSchema } });
  } else if (answers[method] !== undefined) send({ id, result: answers[method]() });
});
