/**
 * Measures the size of an installation. Ours is packed and installed into an empty folder. For peers it is the packages
 * that are installed here, with all dependencies.
 *
 * @module
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { here, runToEnd } from "./processes.mjs";
import { ROOT } from "./setup.mjs";

const PACKAGES = {
  openai: ["openai"],
  ai: ["ai", "@ai-sdk/openai"],
  agents: ["@openai/agents"],
  pi: ["@earendil-works/pi-ai", "@earendil-works/pi-agent-core"],
  langchain: ["langchain", "@langchain/openai", "@langchain/core"],
};

const ours = new Map();

export async function installSample(adapter, folder) {
  if (adapter === "floor") return { mb: 0, packages: 0 };
  if (adapter !== "ours") return closureOf(PACKAGES[adapter]);
  if (!ours.has(folder)) ours.set(folder, await installOurs(folder));
  return ours.get(folder);
}

async function installOurs(folder) {
  const into = join(folder, "install");
  mkdirSync(into);
  const options = { timeoutMs: 300_000 };
  const { stdout } = await runToEnd(
    "npm",
    ["pack", ROOT, "--ignore-scripts", "--json", "--pack-destination", folder],
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
  const result = { mb: sizeOf(modules) / 1e6, packages: packages.length };
  rmSync(into, { recursive: true, force: true });
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

/** The total size of all files in the folder. */
function sizeOf(path, leaveOut = () => false) {
  const { size } = lstatSync(path);
  if (!lstatSync(path).isDirectory()) return size;
  return readdirSync(path)
    .filter((name) => !leaveOut(name))
    .reduce((sum, name) => sum + sizeOf(join(path, name), leaveOut), 0);
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
  const bytes = [...found.values()].reduce((sum, size) => sum + size, 0);
  return { mb: bytes / 1e6, packages: found.size };
}

/** Like Node's resolution: the nearest one, upwards. */
function locate(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(join(path, "package.json"))) return realpathSync(path);
    if (dirname(folder) === folder) return undefined;
  }
}
