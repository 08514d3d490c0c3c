/**
 * Deletes the declaration files that no entry of the package reaches. tsc writes one for every module, and most of them
 * describe the command line.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** @param {string} folder @param {readonly string[]} entries their names without extension, relative to the folder */
export function pruneTypes(folder, entries) {
  const reached = new Set();
  const waiting = entries.map((name) => join(folder, `${name}.d.ts`));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    if (!existsSync(file)) throw new Error(`no declaration file ${file}`);
    reached.add(file);
    for (const [, target] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      waiting.push(join(dirname(file), target.replace(/\.[jt]s$/, ".d.ts")));
    }
  }
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = join(folder, name);
    if (name.endsWith(".d.ts") && !reached.has(file)) rmSync(file);
  }
  removeEmptyFolders(folder);
}

function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    removeEmptyFolders(path);
    if (readdirSync(path).length === 0) rmdirSync(path);
  }
}
