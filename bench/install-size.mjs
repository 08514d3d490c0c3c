/**
 * Measures the size of an installation. Ours is packed and installed into an empty folder. For peers it is the packages
 * that are installed here, with all dependencies.
 *
 * @module
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { here, runToEnd } from "./processes.mjs";

const PACKAGES = {
  openai: ["openai"],
  ai: ["ai", "@ai-sdk/openai"],
  agents: ["@openai/agents"],
  pi: ["@earendil-works/pi-ai", "@earendil-works/pi-agent-core"],
  langchain: ["langchain", "@langchain/openai", "@langchain/core"],
};

const ours = new Map();
/** The unit of `stat`, whatever the disk uses. */
const BLOCK = 512;

export async function installSample(adapter, folder, libraryPath) {
  if (adapter === "floor") return { mb: 0, diskMb: 0, packages: 0 };
  if (adapter !== "ours") return closureOf(PACKAGES[adapter]);
  const root = dirname(dirname(libraryPath));
  const key = `${folder} ${root}`;
  if (!ours.has(key)) ours.set(key, await installOurs(join(folder, `install-${ours.size}`), root));
  return ours.get(key);
}

async function installOurs(folder, root) {
  const into = join(folder, "into");
  mkdirSync(into, { recursive: true });
  const options = { timeoutMs: 300_000 };
  const { stdout } = await runToEnd(
    "npm",
    ["pack", root, "--ignore-scripts", "--json", "--pack-destination", folder],
    options,
  );
  const [{ filename }] = JSON.parse(stdout);
  const args = [
    "install",
    "--prefix",
    into,
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    join(folder, filename),
  ];
  await runToEnd("npm", args, options);
  const modules = join(into, "node_modules");
  const packages = packagesIn(modules);
  const result = { ...inMegabytes(sizeOf(modules)), packages: packages.length };
  rmSync(folder, { recursive: true, force: true });
  return result;
}

function packagesIn(modules) {
  return readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@")
        ? readdirSync(join(modules, name)).map((one) => join(modules, name, one))
        : [join(modules, name)],
    )
    .flatMap((path) => {
      const inner = join(path, "node_modules");
      return [path, ...(existsSync(inner) ? packagesIn(inner) : [])];
    });
}

/** The total size of all files in the folder: their bytes, and the blocks that they and the folders take on this disk. */
function sizeOf(path, leaveOut = () => false) {
  const found = lstatSync(path);
  const disk = found.blocks * BLOCK;
  if (!found.isDirectory()) return { bytes: found.size, disk };
  return readdirSync(path)
    .filter((name) => !leaveOut(name))
    .map((name) => sizeOf(join(path, name), leaveOut))
    .reduce(plus, { bytes: 0, disk });
}

function plus(a, b) {
  return { bytes: a.bytes + b.bytes, disk: a.disk + b.disk };
}

function inMegabytes({ bytes, disk }) {
  return { mb: bytes / 1e6, diskMb: disk / 1e6 };
}

/** The packages reachable from these through dependencies and required peer dependencies. */
function closureOf(names) {
  const found = new Map();
  const visit = (name, from) => {
    const path = locate(name, from);
    if (path === undefined || found.has(path)) return;
    const {
      dependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
    found.set(
      path,
      sizeOf(path, (entry) => entry === "node_modules"),
    );
    const needed = Object.keys(peerDependencies).filter(
      (one) => peerDependenciesMeta[one]?.optional !== true,
    );
    for (const one of [...Object.keys(dependencies), ...needed]) visit(one, path);
  };
  for (const name of names) visit(name, here("."));
  const size = [...found.values()].reduce(plus, { bytes: 0, disk: 0 });
  return { ...inMegabytes(size), packages: found.size };
}

/** Like Node's resolution: the nearest one, upwards. */
function locate(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(join(path, "package.json"))) return realpathSync(path);
    if (dirname(folder) === folder) return undefined;
  }
}
