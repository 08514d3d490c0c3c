/**
 * Cold starts: the cost of importing a library in addition to bare Node, and the time of `--version` on the command line.
 *
 * @module
 */
import { dirname, join } from "node:path";

import { here, runToEnd } from "./processes.mjs";

/** The modules that a user of each would import for a tool loop. */
const IMPORTS = {
  floor: ["node:http"],
  openai: ["openai"],
  ai: ["ai", "@ai-sdk/openai"],
  agents: ["@openai/agents"],
  pi: ["@earendil-works/pi-ai", "@earendil-works/pi-agent-core"],
  langchain: ["langchain", "@langchain/openai"],
};

/** The processor time of the process, from its start to the end of the import. */
export async function importSample(node, adapter, library) {
  const names = adapter === "ours" ? [library] : adapter === "floor" ? [] : IMPORTS[adapter];
  const code = [
    ...names.map((name) => `await import(${JSON.stringify(name)});`),
    "const { user, system } = process.cpuUsage();",
    "const wallMs = performance.now();",
    "process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000, wallMs, node: process.version }));",
  ].join("\n");
  const { stdout } = await runToEnd(node, ["--input-type=module", "-e", code], { cwd: here(".") });
  return JSON.parse(stdout);
}

/** Wall time of a whole process. */
export async function versionSample(node, adapter, libraryPath) {
  const args = adapter === "floor" ? ["-e", "0"] : [join(dirname(libraryPath), "cli/main.js"), "--version"];
  const { wallMs } = await runToEnd(node, args);
  return { wallMs };
}
