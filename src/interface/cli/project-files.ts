/** The files that an @ can name: those that git tracks or would track; without git, those that a bounded walk finds. */

import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const MOST = 20_000;
const FRESH_MS = 5000;
const GIT_MS = 3000;
const SKIPPED: ReadonlySet<string> = new Set(["node_modules", ".git", "dist", "target", ".venv"]);

export function projectFiles(cwd: string, now: () => number): () => Promise<readonly string[]> {
  let known: { readonly at: number; readonly files: Promise<readonly string[]> } | undefined;
  return () => {
    if (known === undefined || now() - known.at > FRESH_MS) known = { at: now(), files: list(cwd) };
    return known.files;
  };
}

async function list(cwd: string): Promise<readonly string[]> {
  try {
    const words = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    const { stdout } = await promisify(execFile)("git", words, {
      cwd,
      timeout: GIT_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout
      .split("\0")
      .filter((name) => name !== "")
      .slice(0, MOST);
  } catch {
    return walk(cwd);
  }
}

async function walk(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [""];
  for (let folder = folders.shift(); folder !== undefined && found.length < MOST; folder = folders.shift()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path);
      else if (entry.isFile()) found.push(path);
    }
  }
  return found.slice(0, MOST);
}
