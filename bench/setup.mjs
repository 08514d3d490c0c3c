/**
 * Prepares a run: installs the peers (with their own package.json and lock file) and a Node for them, and checks our build.
 * It does not touch the project's own packages.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { arch } from "node:os";
import { dirname, join } from "node:path";

import { here, runToEnd } from "./processes.mjs";

export const ROOT = dirname(here("."));
const INSTALL = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];

/** A Node that is new enough for the peers: the running one, or one installed into its own folder. */
export async function peerNode(say) {
  const given = process.env.THROUGHLINE_BENCH_NODE;
  if (given !== undefined) return given;
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  const folder = here(".node24");
  const name = `node-${process.platform}-${arch()}`;
  const path = join(folder, "node_modules", name, "bin", "node");
  if (!existsSync(path)) {
    say("installing Node 24 for the peers");
    mkdirSync(folder, { recursive: true });
    await npm(["install", "--prefix", folder, "--no-save", ...INSTALL, `${name}@24`]);
  }
  return path;
}

export async function installPeers(node, say) {
  if (existsSync(here("node_modules/.package-lock.json"))) return;
  say("installing the peers");
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
  await npm(["ci", "--prefix", here("."), ...INSTALL], { env, cwd: here(".") });
}

function npm(args, options = {}) {
  return runToEnd("npm", args, { timeoutMs: 600_000, ...options }).catch((error) => {
    throw new Error(`npm ${args[0]} failed; is there a network?\n${error.message}`);
  });
}

/** Our package is measured as published, so it must be built. */
export async function builtLibrary(say) {
  const entry = join(ROOT, "dist/index.js");
  if (!existsSync(entry)) {
    say("building");
    await runToEnd(process.execPath, [join(ROOT, "scripts/build.mjs")], { cwd: ROOT, timeoutMs: 300_000 });
  } else if (newest(join(ROOT, "src")) > statSync(entry).mtimeMs) {
    say("note: src is newer than dist; `npm run build` builds it");
  }
  return entry;
}

function newest(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((time, entry) => Math.max(time, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0);
}

/** The measured packages of each peer. */
export const PACKAGES = [
  "openai",
  "ai",
  "@ai-sdk/openai",
  "@openai/agents",
  "@earendil-works/pi-ai",
  "@earendil-works/pi-agent-core",
  "@langchain/openai",
  "@langchain/core",
];

/** The exact installed versions, by package. */
export function versionsOf(names) {
  return Object.fromEntries(
    names.map((name) => {
      const file = join(here("node_modules"), name, "package.json");
      return [name, existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : undefined];
    }),
  );
}
