/** The reference server of the protocol, as a real child process. */

import { createRequire } from "node:module";

import type { StdioServer } from "../../../src/runtime/mcp/index.ts";

const path = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");

export const EVERYTHING: StdioServer = {
  command: process.execPath,
  args: [path, "stdio"],
  timeoutMs: 60_000,
};

/** Reads its input and never answers. */
export const MUTE: StdioServer = {
  command: process.execPath,
  args: ["-e", "process.stdin.resume()"],
  timeoutMs: 300,
};

/** There is no such program. */
export const ABSENT: StdioServer = { command: "throughline-has-no-such-program" };
