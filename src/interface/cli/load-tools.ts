/**
 * `--tools FILE`: a JavaScript module that exports tools made with `tool()`. A module that a project's settings name runs
 * from a copy of the trusted bytes; a module that the user names runs in place.
 */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { codedError, codeOf, isObject, messageOf, type ThroughlineError } from "../../base/support/index.ts";
import type { Tool } from "../../runtime/tools/index.ts";
import type { FileSet } from "../config/index.ts";
import { trustedCopy } from "./trusted-copy.ts";

/** The time limit for loading a module, whose top level may wait forever. */
const PATIENCE_MS = 10_000;

export interface LoadOptions {
  readonly patienceMs?: number;
  /** Set if a project names the module: only these files may run. */
  readonly trusted?: FileSet | undefined;
}

export async function loadTools(file: string, options: LoadOptions = {}): Promise<readonly Tool[]> {
  const { patienceMs = PATIENCE_MS, trusted } = options;
  const copy = trusted === undefined ? undefined : trustedCopy(trusted);
  let module: unknown;
  try {
    module = await inTime(import(pathToFileURL(copy?.start ?? resolve(file)).href), patienceMs);
  } catch (error) {
    if (error === TOO_LATE) {
      throw codedError(
        "tools_file_timeout",
        `--tools ${file}: not loaded after ${patienceMs / 1000} s; does it wait for something at its top level?`,
      );
    }
    const why = (messageOf(error).split("\n")[0] ?? "").replace(/ imported from .*/, "");
    const told = copy === undefined ? why : why.replaceAll(copy.folder, "");
    const hint = copy !== undefined && isMissing(error) ? ONLY_TRUSTED : "";
    throw invalid(file, `cannot load it: ${told}${hint}`, error);
  }
  const exported = Object.values(module as Readonly<Record<string, unknown>>).flatMap((value) =>
    Array.isArray(value) ? (value as readonly unknown[]) : [value],
  );
  const tools = exported.filter(isTool);
  if (tools.length === 0)
    throw invalid(file, "it exports no tools: export the result of tool(), or an array of tools");
  return tools;
}

const ONLY_TRUSTED =
  ". A project's code can load only files that its text names; to run it without this check, name it with --tools";

function isMissing(error: unknown): boolean {
  return ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ENOENT", "code_untrusted"].includes(
    codeOf(error) ?? "",
  );
}

const TOO_LATE = Symbol("too late");

async function inTime(work: Promise<unknown>, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise((_resolve, reject) => {
        // oxlint-disable-next-line prefer-promise-reject-errors -- distinct from anything the module throws
        timer = setTimeout(() => reject(TOO_LATE), ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function isTool(value: unknown): value is Tool {
  return (
    isObject(value) &&
    typeof value["name"] === "string" &&
    typeof value["run"] === "function" &&
    typeof value["validate"] === "function"
  );
}

function invalid(file: string, why: string, cause?: unknown): ThroughlineError {
  return codedError("tools_file_invalid", `--tools ${file}: ${why}`, cause);
}
