/**
 * list_files: the sorted entries of one directory; directories end in a slash, links in an at sign. One level only:
 * search_files is for whole trees.
 */

import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";

import { stringOf } from "../../../base/support/index.ts";
import { tool, type Tool } from "../tool.ts";
import { closing, locate, openDirectory } from "./workspace.ts";

const MAX_SHOWN = 1000;
/** Sorting needs all names in memory; beyond this limit the listing says that it is incomplete. */
const MAX_READ = 100_000;

export function listFiles(cwd: string): Tool {
  return tool({
    name: "list_files",
    description:
      "Lists one directory of the working directory: one entry per line, directories end in /, symbolic links in @.",
    access: "read",
    idempotent: true,
    input: {
      type: "object",
      properties: { path: { type: "string", description: "Directory; the working directory when left out" } },
      additionalProperties: false,
    },
    run: async (input, { signal }) => {
      const directory = await locate(cwd, stringOf(input["path"]) ?? ".");
      return closing(openDirectory(directory), ({ at }) => listing(at(""), signal));
    },
  });
}

async function listing(path: string, signal: AbortSignal): Promise<string> {
  const names: string[] = [];
  let isComplete = true;
  for await (const entry of await opendir(path)) {
    signal.throwIfAborted();
    isComplete = names.length < MAX_READ;
    if (!isComplete) break;
    names.push(label(entry));
  }
  if (names.length === 0) return "(the directory is empty)";
  names.sort();
  const shown = names.slice(0, MAX_SHOWN);
  const rest = names.length - shown.length;
  if (rest > 0) shown.push(`[${isComplete ? rest : `more than ${rest}`} entries left out]`);
  return shown.join("\n");
}

/** A name with a line break would read as two entries. */
function label(entry: Dirent): string {
  const name = /\p{Cc}/u.test(entry.name) ? JSON.stringify(entry.name) : entry.name;
  if (entry.isDirectory()) return `${name}/`;
  return entry.isSymbolicLink() ? `${name}@` : name;
}
