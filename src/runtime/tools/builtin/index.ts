/** The built-in tools: look at, change and run things in one working directory. */

import { resolve } from "node:path";

import type { Tool } from "../tool.ts";
import { editFile } from "./edit-file.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { runCommand } from "./run-command.ts";
import { searchFiles } from "./search-files.ts";
import { writeFile } from "./write-file.ts";

export interface BuiltinToolsOptions {
  /** All paths are confined to it, by real path. */
  readonly cwd: string;
  /** What an allow-list is taken from for commands; this process's own by default. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  /** Variables that hold provider keys: never passed on, even if the allow-list has the name. */
  readonly secretEnvNames?: readonly string[];
}

export function builtinTools(options: BuiltinToolsOptions): readonly Tool[] {
  const cwd = resolve(options.cwd); // a later chdir of the process must not move the fence
  return [
    listFiles(cwd),
    readFile(cwd),
    searchFiles(cwd),
    writeFile(cwd),
    editFile(cwd),
    runCommand({ ...options, cwd }),
  ];
}
