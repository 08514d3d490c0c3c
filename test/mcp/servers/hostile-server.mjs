/**
 * A server of the earlier era on standard input and output that behaves badly. Its argument is JSON: `tools` (or
 * `manyTools`: how many), `instructions`, `hang` ("start", "list": never answers that), `grandchild` (a file for the id of a
 * process that it starts), and `listFile` (a file with the tools, read for each list) or `rawFile` (the same, sent as it is). What a call does is in
 * its argument `act`.
 */

import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const plan = JSON.parse(process.argv[2] ?? "{}");

function write(text) {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length;) {
    try {
      from += writeSync(1, bytes, from);
    } catch (error) {
      if (error.code === "EPIPE") process.exit(0);
      if (error.code !== "EAGAIN") throw error;
    }
  }
}
const send = (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const said = (id, result) => send({ id, result });
const text = (words) => ({ content: [{ type: "text", text: words }] });

if (plan.pids) appendFileSync(plan.pids, `${process.pid}\n`);
if (plan.grandchild) {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  writeFileSync(plan.grandchild, String(child.pid));
}

const act = {
  name: "act",
  description: "Acts.",
  inputSchema: { type: "object", properties: { act: { type: "string" } } },
};
let cursor = 0;

function tools() {
  if (plan.listFile) return JSON.parse(readFileSync(plan.listFile, "utf8"));
  if (plan.manyTools)
    return Array.from({ length: plan.manyTools }, (_, at) => ({
      name: `tool${at}`,
      inputSchema: { type: "object" },
    }));
  return plan.tools ?? [act];
}

const deep = (levels) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

const ACTS = {
  ok: (id) => said(id, text("fine")),
  gigabyte: (id) => {
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
    const part = "x".repeat(1 << 20);
    for (let at = 0; at < 1024; at += 1) write(part);
    write(`"}]}}\n`);
  },
  "thirty megabytes": (id) => said(id, text("x".repeat(30 * 1024 * 1024))),
  "endless progress": (id, token) => {
    for (let at = 0; at < 20_000; at += 1)
      send({
        method: "notifications/progress",
        params: { progressToken: token, progress: at, message: "\u001b[2Jstep" },
      });
    said(id, text("after the progress"));
  },
  junk: (id) => {
    write("listening on port 3000\n\u0000\u0001\n{\n[]\n{}\nnull\n");
    said(id, text("after the junk"));
  },
  "wrong ids": (id) => {
    said(999_999, text("not yours"));
    send({ id: null, result: {} });
    said(id, text("yours"));
  },
  twice: (id) => {
    said(id, text("first"));
    said(id, text("second"));
  },
  "no object": (id) => {
    write(`${JSON.stringify({ jsonrpc: "2.0", id, result: 42 })}\n`);
    process.exit(0);
  },
  "odd parts": (id) =>
    said(id, {
      content: [
        1,
        null,
        "x",
        [],
        { type: "text" },
        { type: 7 },
        { type: "image" },
        { type: "text", text: "real" },
      ],
    }),
  "content is a text": (id) => said(id, { content: "just text", isError: "no" }),
  "many parts": (id) =>
    said(id, { content: Array.from({ length: 50_000 }, (_, at) => ({ type: "text", text: `part ${at}` })) }),
  misfit: (id) => said(id, { ...text("the words"), structuredContent: { count: "many" } }),
  "no structure": (id) => said(id, text("only words")),
  deep: (id) =>
    write(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"deep"}],"structuredContent":${deep(1000)}}}\n`,
    ),
  proto: (id) =>
    write(
      `{"jsonrpc":"2.0","id":${id},"result":{"__proto__":{"isError":true},"content":[{"type":"text","text":"plain","__proto__":{"x":1}}]}}\n`,
    ),
  "control characters": (id) => said(id, text("\u001b[2J\u001b]0;owned\u0007 words \u202e")),
  error: (id) => send({ id, error: { code: -32000, message: "\u001b[31mfailed" } }),
  "list changed": (id) => {
    send({ method: "notifications/tools/list_changed" });
    said(id, text("told"));
  },
  "flood of changes": (id) => {
    for (let at = 0; at < 2000; at += 1) send({ method: "notifications/tools/list_changed" });
    said(id, text("flooded"));
  },
  "asks for sampling": (id) => {
    send({ id: "s1", method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
    send({ id: "s2", method: "roots/list" });
    said(id, text("asked"));
  },
  wait: () => undefined,
};

const input = createInterface({ input: process.stdin });
input.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (plan.heard) appendFileSync(plan.heard, `${JSON.stringify({ method, params })}\n`);
  if (method === "initialize") {
    if (plan.hang === "start") return;
    said(id, {
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "hostile", version: "1" },
      ...(plan.instructions === undefined ? {} : { instructions: plan.instructions }),
      ...(plan.longInstructions ? { instructions: "\u001b[2Jobey ".repeat(plan.longInstructions / 10) } : {}),
    });
  } else if (method === "tools/list") {
    if (plan.hang === "list") return;
    const more = plan.endlessPages ? { nextCursor: String((cursor += 1)) } : {};
    const listed = plan.endlessPages ? [{ name: `page${cursor}`, inputSchema: { type: "object" } }] : tools();
    if (plan.rawFile)
      write(`{"jsonrpc":"2.0","id":${id},"result":{"tools":${readFileSync(plan.rawFile, "utf8")}}}\n`);
    else said(id, { tools: listed, ...more });
  } else if (method === "tools/call") {
    const todo = ACTS[params.arguments?.act ?? "ok"] ?? ACTS.ok;
    const { _meta: meta } = params;
    todo(id, meta?.progressToken);
  } else if (id !== undefined && method !== undefined)
    send({ id, error: { code: -32601, message: "not found" } });
});
input.on("close", () => process.exit(0));
