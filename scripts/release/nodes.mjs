/** The Nodes that the packed package is tested on. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import { run } from "./commands.mjs";
import { StepError } from "./errors.mjs";

/**
 * The running Node and, if `THROUGHLINE_NODES` is set, the ones it names. Otherwise npm installs one more into `folder`:
 * Node 24, or Node 20 if the running one is newer.
 *
 * @returns {Promise<readonly string[]>} paths of programs
 */
export async function findNodes(folder, report) {
  const named = process.env.THROUGHLINE_NODES;
  if (named !== undefined) return [process.execPath, ...named.split(delimiter).filter((path) => path !== "")];
  const major = Number(process.versions.node.split(".")[0]) >= 24 ? 20 : 24;
  const platform = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const args = ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
  try {
    await run("npm", [...args, `${name}@${major}`]);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
  }
  const program = join(folder, "node_modules", name, "bin", "node");
  if (existsSync(program)) return [process.execPath, program];
  report(`! Node ${major} could not be installed: testing on ${process.version} only`);
  return [process.execPath];
}
