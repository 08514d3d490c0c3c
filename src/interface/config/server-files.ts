/**
 * Finds the project's files that its MCP servers name: the command, arguments and variables that are paths, also inside
 * an argument (`--config=x.json`, `sh -c "node x.mjs"`). Too many are no harm: they only make a decision of trust cover
 * more. Modules count with what they import. Folders, and what the servers compute or download, are not covered.
 */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { isObject, stringOf } from "../../base/support/index.ts";
import { expandVariables } from "./expand-variables.ts";
import { fileClosure, type FileSet } from "./file-closure.ts";
import type { NamedServer } from "./mcp-file.ts";
import type { Environment } from "./paths.ts";
import { isInside, type KnownStats, realPlace } from "./real-places.ts";

/** What a person can read before deciding. */
const MAX_SHOWN = 64 * 1024;

/** `folder` is where relative paths begin. Undefined if there are no servers. */
export function serverFiles(
  root: string,
  folder: string,
  servers: readonly NamedServer[],
  env: Environment,
): FileSet | undefined {
  if (servers.length === 0) return undefined;
  if (JSON.stringify(servers).length > MAX_SHOWN)
    return { root, starts: [], files: [], problem: `its servers take more than ${MAX_SHOWN / 1024} KiB` };
  const known: KnownStats = new Map();
  const starts = new Set<string>();
  const base = realPlace(folder, known)?.path ?? folder;
  for (const { value } of servers) {
    if (!isObject(value)) continue;
    const cwd = resolve(base, expandVariables(stringOf(value["cwd"]) ?? ".", env).text);
    for (const text of textsOf(value)) {
      for (const path of pathsIn(expandVariables(text, env).text)) {
        const file = resolve(cwd, path);
        const place = realPlace(file, known);
        if (place?.kind === "file" && (isInside(root, file) || isInside(root, place.path))) starts.add(file);
      }
    }
  }
  return fileClosure(root, [...starts].toSorted());
}

function textsOf(value: Readonly<Record<string, unknown>>): readonly string[] {
  const { command, args, env } = value;
  return [
    command,
    ...(Array.isArray(args) ? (args as readonly unknown[]) : []),
    ...(isObject(env) ? Object.values(env) : []),
  ].filter((one) => typeof one === "string");
}

/** Whatever may be a path: the whole text, what follows an equals sign, and every word of it. */
function pathsIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  const words = [text, text.slice(text.indexOf("=") + 1), ...text.split(/[\s"'`=,;:|&()<>]+/)];
  for (const word of [...words, ...text.split(/[\s"'`=,;|&()<>]+/)]) {
    const path = word.startsWith("file:") ? pathOfUrl(word) : word;
    if (path !== undefined && path !== "") found.add(path);
  }
  return found;
}

function pathOfUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
