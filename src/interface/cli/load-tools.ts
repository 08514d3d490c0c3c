/** `--tools FILE`: a JavaScript module that exports tools made with `tool()`. */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { codedError, isObject, messageOf, type ThroughlineError } from "../../base/support/index.ts";
import type { Tool } from "../../runtime/tools/index.ts";

/** A module may wait for something that never comes; nobody should have to wait for it. */
const PATIENCE_MS = 10_000;

export async function loadTools(file: string, patienceMs = PATIENCE_MS): Promise<readonly Tool[]> {
  let module: unknown;
  try {
    module = await inTime(import(pathToFileURL(resolve(file)).href), patienceMs);
  } catch (error) {
    if (error === TOO_LATE) {
      throw codedError(
        "tools_file_timeout",
        `--tools ${file}: it was not loaded after ${patienceMs / 1000} s; does it wait for something at its top level?`,
      );
    }
    throw invalid(
      file,
      `it could not be loaded: ${(messageOf(error).split("\n")[0] ?? "").replace(/ imported from .*/, "")}`,
      error,
    );
  }
  const exported = Object.values(module as Readonly<Record<string, unknown>>).flatMap((value) =>
    Array.isArray(value) ? (value as readonly unknown[]) : [value],
  );
  const tools = exported.filter(isTool);
  if (tools.length === 0)
    throw invalid(file, "it exports no tool; export what tool() returns, or an array of them");
  return tools;
}

const TOO_LATE = Symbol("too late");

async function inTime(work: Promise<unknown>, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise((_resolve, reject) => {
        // oxlint-disable-next-line prefer-promise-reject-errors -- told apart from whatever the module throws
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
