/** The built-in tools: view, change and run things in one working directory. */

import { resolve } from "node:path";

import {
  aList,
  anObject,
  aText,
  checkArgument,
  checkOptions,
  type OptionChecks,
} from "../../../base/support/index.ts";
import type { Tool } from "../tool.ts";
import { editFile } from "./edit-file.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { runCommand, type RunCommandOptions } from "./run-command.ts";
import { searchFiles } from "./search-files.ts";
import { writeFile } from "./write-file.ts";

const BUILTIN_OPTIONS = {
  cwd: aText,
  env: anObject,
  secretEnvNames: aList(aText, "names of variables"),
} satisfies OptionChecks<Omit<RunCommandOptions, "graceMs">>;

/**
 * Returns tools that list, read, search, write and edit files and run commands, confined to `cwd` (SECURITY.md).
 *
 * @example
 * ```ts
 * import { builtinTools, createAgent, emulator } from "throughline";
 *
 * const tools = builtinTools({ cwd: process.cwd() });
 * const agent = createAgent({ model: emulator(), tools, permissions: "read-only" });
 * const session = await agent.open();
 * console.log(await session.send("Use list_files to list the folder").text());
 * await session.close();
 * ```
 */
export function builtinTools(options: Omit<RunCommandOptions, "graceMs">): readonly Tool[] {
  checkOptions("builtinTools", options, BUILTIN_OPTIONS);
  checkArgument("builtinTools", "cwd", options.cwd, aText);
  const cwd = resolve(options.cwd); // a later chdir must not move the boundary
  const files = [listFiles(cwd), readFile(cwd), searchFiles(cwd), writeFile(cwd), editFile(cwd)];
  return [
    ...files.map((one): Tool => ({ ...one, ruleOn: "path" })),
    { ...runCommand({ ...options, cwd }), ruleOn: "command" },
  ];
}
