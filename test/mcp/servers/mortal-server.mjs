/**
 * A server on standard input and output that counts what it does and dies by SIGKILL where the call says. It speaks either
 * era of the protocol, written by hand, because a server made with a package cannot die in the middle of a line.
 *
 * Argument: JSON with `counter` (a file that gets one line per execution, synchronously), `lives` (a file that gets one
 * line per start), `doom` (while this file is there, the next start removes it and dies in the handshake), and `modern`.
 */

import { spawn } from "node:child_process";
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const { counter, lives, doom, modern = false } = JSON.parse(process.argv[2]);

function append(file, line) {
  const handle = openSync(file, "a");
  writeSync(handle, `${line}\n`);
  fsyncSync(handle);
  closeSync(handle);
}

const die = () => process.kill(process.pid, "SIGKILL");
const write = (text) => writeSync(1, text);
const answer = (id, result) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, result: modern ? { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result } : result })}\n`;

append(lives, process.pid);

const tool = {
  name: "effect",
  description: "Has an effect that is counted.",
  inputSchema: {
    type: "object",
    properties: { id: { type: "integer" }, phase: { type: "string" } },
    required: ["id", "phase"],
    additionalProperties: false,
  },
};
const capabilities = { tools: {} };

function call(id, { id: number, phase }, token) {
  if (phase === "before the effect") die();
  append(counter, number);
  if (phase === "after the effect") die();
  if (phase === "while it waits") {
    const params = { progressToken: token, progress: 1, message: "waiting" };
    write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params })}\n`);
    return;
  }
  const line = answer(id, { content: [{ type: "text", text: `effect ${number}` }] });
  if (phase === "in the answer") {
    write(line.slice(0, line.length / 2));
    die();
  }
  write(line);
  if (phase === "exits, its output stays open") {
    // In a group of its own, so that it does not count as the server.
    const script = "setTimeout(() => {}, 2000)";
    spawn(process.execPath, ["-e", script], { detached: true, stdio: ["ignore", "inherit", "ignore"] });
    process.exit(0);
  }
  if (phase === "after the answer") die();
}

const input = createInterface({ input: process.stdin });
input.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize" || method === "server/discover") {
    if (existsSync(doom)) {
      rmSync(doom);
      die();
    }
    if ((method === "server/discover") !== modern)
      write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "not found" } })}\n`);
    else
      write(
        answer(
          id,
          modern
            ? { supportedVersions: ["2026-07-28"], capabilities }
            : { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "mortal", version: "1" } },
        ),
      );
  } else if (method === "tools/list") write(answer(id, { tools: [tool] }));
  else if (method === "tools/call") {
    const { _meta: meta } = params;
    call(id, params.arguments, meta?.progressToken);
  }
});
input.on("close", () => process.exit(0));
